/**
 * What must hold on Windows too, on the real Windows build of the runtime under Wine: paths, quoting, encoding, environment,
 * permissions, processes and the state folder. Hyper-V and PowerShell themselves are not shown by this.
 */

import assert from "node:assert/strict";
import { readCounts } from "../../tools/stages/junit.ts";
import { ROOT } from "../../tools/programs.ts";
import { NO_WINE, runWindowsDeno, runWindowsHvlab, windowsPath } from "../support/windows_deno.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const skipped = NO_WINE === undefined ? "" : ` (skipped: ${NO_WINE})`;

/** The folders of tests/unit that promise something on every operating system. */
const EVERYWHERE = ["base", "cli", "config", "flows", "host", "keeper", "mcp", "state", "tools"];

function test(promise: string, work: () => Promise<void>): void {
  Deno.test({ name: `windows runtime: ${promise}${skipped}`, ignore: NO_WINE !== undefined, fn: work });
}

test("the tests of what must hold everywhere pass", () =>
  withTemporaryFolder(async (folder) => {
    const report = `${folder}/report.xml`;
    const { code, stdout } = await runWindowsDeno([
      "test",
      "-A",
      "--no-check",
      "--quiet",
      `--config=${windowsPath(`${ROOT}/deno.json`)}`,
      `--junit-path=${windowsPath(report)}`,
      ...EVERYWHERE.map((name) => `tests/unit/${name}`),
    ]);
    const { counts } = readCounts(await Deno.readTextFile(report));
    assert.equal(code, 0, stdout.slice(-8_000));
    assert.equal(counts.failed, 0);
    assert.ok(counts.passed > 300, `only ${counts.passed} tests ran`);
  }));

test("the program answers, with paths of Windows in its arguments and its answers", () =>
  withTemporaryFolder(async (folder) => {
    const dump = `${folder}/naïve file.dmp`;
    await Deno.writeTextFile(dump, "PAGE");
    const run = (...args: string[]) =>
      runWindowsHvlab(args, { env: { HVLAB_STATE: windowsPath(`${folder}/state`) } });
    assert.match((await run("--version")).stdout, /^hvlab \d/);
    const { code, stdout } = await run("dump", "inspect", windowsPath(dump), "--json");
    const error: { code: string; context: Record<string, unknown> } = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.context["reason"], error.context["path"]], [
      14,
      "hv.bad_dump",
      "too_short",
      windowsPath(dump),
    ]);
    const doctor = await run("doctor", "--json");
    const { findings }: { findings: { check: string; status: string }[] } = JSON.parse(doctor.stdout);
    assert.ok(findings.length > 3, doctor.stdout);
  }));
