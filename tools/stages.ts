/**
 * All checks and all tests, one stage after the other. Each prints one line, its whole output only when it fails; the
 * last line is `N passed, N failed`, in which a check counts as one.
 */

import { buildBundle } from "./bundle.ts";
import type { Counts } from "./stages/junit.ts";
import { runPester, SCRIPT as PESTER } from "./stages/pester.ts";
import { ROOT, runProgram } from "./programs.ts";
import { runTestFolder, type StageResult } from "./stages/test_run.ts";

interface Stage {
  name: string;
  run: () => Promise<StageResult>;
}

/** A failed stage shows at most this much of its output. */
const SHOWN_CHARACTERS = 30_000;

const CHECKS: readonly Stage[] = [
  check("format", ["fmt", "--check", "--quiet"]),
  check("lint", ["lint", "--quiet"]),
  check("types", ["check", "--quiet", "main.ts", "src", "tools", "tests"]),
  check("layers", ["run", "-A", "tools/layers.ts"]),
  check("docs up to date", ["run", "-A", "tools/docs.ts", "--check"]),
  { name: "bundle", run: () => asCheck(buildBundle()) },
];

function check(name: string, args: string[]): Stage {
  return {
    name,
    async run() {
      const { code, stdout, stderr } = await runProgram(Deno.execPath(), args);
      const passed = code === 0;
      return { counts: checkCounts(passed), notes: [], output: stdout + stderr };
    },
  };
}

async function asCheck(work: Promise<void>): Promise<StageResult> {
  try {
    await work;
    return { counts: checkCounts(true), notes: [], output: "" };
  } catch (error) {
    return {
      counts: checkCounts(false),
      notes: [],
      output: error instanceof Error ? error.message : String(error),
    };
  }
}

function checkCounts(passed: boolean): Counts {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

/** One stage for each folder of `tests` that holds test files, the quick ones first. */
async function findTestStages(): Promise<Stage[]> {
  const order = ["unit", "tools", "contract", "cli", "mcp"];
  const folders: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/tests`)) {
    if (isDirectory && await holdsTests(`${ROOT}/tests/${name}`)) folders.push(name);
  }
  const rank = (name: string): number => order.includes(name) ? order.indexOf(name) : order.length;
  folders.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const stages: Stage[] = folders.map((name) => ({ name: `tests/${name}`, run: () => runTestFolder(name) }));
  // Right behind the other checks of the tools: a broken operation is told in its own words first.
  if (await isFile(PESTER)) stages.splice(2, 0, { name: "tests/hyperv_sim", run: runPester });
  return stages;
}

async function isFile(path: string): Promise<boolean> {
  return (await Deno.stat(path).catch(() => undefined))?.isFile ?? false;
}

async function holdsTests(folder: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory ? await holdsTests(`${folder}/${name}`) : name.endsWith("_test.ts")) return true;
  }
  return false;
}

async function runStage({ name, run }: Stage): Promise<Counts> {
  const start = performance.now();
  await Deno.stdout.write(new TextEncoder().encode(`${name} ... `));
  const { counts, notes, output } = await run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const numbers = name.startsWith("tests/") ? `, ${closingLine(counts)}` : "";
  console.log(`${counts.failed === 0 ? "ok" : "FAILED"}${numbers} (${seconds} s)`);
  for (const note of notes) console.log(`    ${note}`);
  if (counts.failed > 0) console.log(output.trim().slice(-SHOWN_CHARACTERS));
  return counts;
}

function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

if (import.meta.main) {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  let tests = 0;
  const add = (counts: Counts): void => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  };
  for (const stage of CHECKS) add(await runStage(stage));
  for (const stage of await findTestStages()) {
    const counts = await runStage(stage);
    tests += counts.passed + counts.failed;
    add(counts);
  }
  if (tests === 0) {
    console.log("FAILED no test ran");
    total.failed++;
  }
  console.log(closingLine(total));
  if (total.failed > 0) Deno.exit(1);
}
