/** Running the tests of one folder of `tests`, in the way that suits them. */

import { ROOT, runProgram } from "../programs.ts";
import { type Counts, readCounts } from "./junit.ts";

/** What came of a stage. */
export interface StageResult {
  counts: Counts;
  /** Lines that the reader should see even when all is well. */
  notes: string[];
  /** Everything that it printed, shown when it failed. */
  output: string;
}

/**
 * How a folder's files run. `threads`: beside each other in one process, for files that share nothing. `processes`: each file
 * in a process of its own, several at a time; so run files that start machines, which know their owner by its process.
 * Left out: one file after the other.
 */
const WAYS: ReadonlyMap<string, "threads" | "processes"> = new Map([
  ["unit", "threads"],
  ["tools", "threads"],
  ["contract", "processes"],
]);

/** A run that takes longer than this hangs. */
const TEST_LIMIT_MS = 20 * 60_000;

/** A guest without KVM keeps one processor busy. */
const FILES_AT_ONCE = Math.max(1, Math.min(4, navigator.hardwareConcurrency));

/** Runs all tests of a folder. */
export async function runTestFolder(folder: string): Promise<StageResult> {
  const path = `tests/${folder}`;
  const way = WAYS.get(folder);
  if (way !== "processes") return await runTests([path], way === "threads" ? ["--parallel"] : []);
  return sumOf(await runFilesAtOnce(await listTestFiles(path)));
}

async function runFilesAtOnce(files: readonly string[]): Promise<StageResult[]> {
  const waiting = [...files];
  const results: StageResult[] = [];
  const runNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      results.push(await runTests([file]));
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, runNext));
  return results;
}

/** The test files below a folder, the largest first, so that no long one is left to the end. */
async function listTestFiles(folder: string): Promise<string[]> {
  const files: { path: string; size: number }[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) {
      for (const inner of await listTestFiles(path)) files.push({ path: inner, size: 0 });
    } else if (name.endsWith("_test.ts")) {
      files.push({ path, size: (await Deno.stat(`${ROOT}/${path}`)).size });
    }
  }
  return files.sort((a, b) => b.size - a.size).map(({ path }) => path);
}

function sumOf(results: readonly StageResult[]): StageResult {
  const sum = (name: keyof Counts): number => results.reduce((total, { counts }) => total + counts[name], 0);
  const failed = results.filter(({ counts }) => counts.failed > 0);
  return {
    counts: { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") },
    notes: results.flatMap(({ notes }) => notes),
    output: failed.map(({ output }) => output).join("\n"),
  };
}

async function runTests(paths: readonly string[], flags: readonly string[] = []): Promise<StageResult> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  try {
    const args = ["test", "-A", "--no-check", `--junit-path=${report}`, ...flags, ...paths];
    const { code, stdout, stderr } = await runProgram(Deno.execPath(), args, { limitMs: TEST_LIMIT_MS });
    const { counts, skipped } = readCounts(await Deno.readTextFile(report));
    // A file that cannot be loaded ends the run with a failure that no report counts.
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    const notes = stdout.split("\n").filter((line) => line.startsWith("note: "));
    return {
      counts,
      notes: [...notes, ...skipped.map((name) => `skipped: ${name}`)],
      output: whatFailed(stdout) + stderr,
    };
  } finally {
    await Deno.remove(report);
  }
}

/** The part of a test run's output that tells of failures; all of it when the run did not get that far. */
function whatFailed(output: string): string {
  const start = output.indexOf("\n ERRORS \n");
  return start < 0 ? output : output.slice(start);
}
