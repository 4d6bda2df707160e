/** The Pester tests of hvlab's PowerShell operations and of the simulated host that they run on. */

import { ROOT, runProgram } from "../programs.ts";
import type { Counts } from "./junit.ts";

/** Runs Pester; what it needs is fetched where .NET is. */
export const SCRIPT = `${ROOT}/tests/hyperv_sim/run_pester.sh`;

/** Files that a whole run can afford; the others hold the simulated host against the published module. */
const PART = ["operations", "outputs", "errors"];
const LIMIT_MS = 5 * 60_000;

/** What came of it. Where Pester cannot run a note says why; what was left out is named. */
export async function runPester(): Promise<{ counts: Counts; notes: string[]; output: string }> {
  if (Deno.build.os === "windows") {
    return { counts: { passed: 0, failed: 0, skipped: 0 }, notes: [SKIPPED_ON_WINDOWS], output: "" };
  }
  const { code, stdout, stderr } = await runProgram("sh", [SCRIPT, "-Only", PART.join(",")], {
    limitMs: LIMIT_MS,
  });
  const result = readPesterResult(stdout);
  if (result.counts === undefined) {
    const failed = code === 0 ? 0 : 1;
    return { counts: { passed: 0, failed, skipped: 0 }, notes: [result.note], output: stdout + stderr };
  }
  if (code !== 0 && result.counts.failed === 0) result.counts.failed = 1;
  return { counts: result.counts, notes: [NOT_RUN], output: stdout + stderr };
}

const SKIPPED_ON_WINDOWS = "skipped: the workflow hyperv runs Pester in both PowerShells of Windows";
const NOT_RUN =
  `not run: the other Pester files of the simulated host; sh tests/hyperv_sim/run_pester.sh runs all`;

/** Reads the last line of `run_pester.sh`: numbers, or the reason why there are none. */
export function readPesterResult(
  output: string,
): { counts: Counts } | { counts: undefined; note: string } {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  const [, passed, failed, skipped] = /^pester: (\d+) passed, (\d+) failed, (\d+) skipped$/.exec(last) ?? [];
  if (passed !== undefined) {
    return { counts: { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) } };
  }
  const [, reason] = /^pester: (skipped: .+)$/.exec(last) ?? [];
  return { counts: undefined, note: reason ?? `Pester ended with: ${last}` };
}
