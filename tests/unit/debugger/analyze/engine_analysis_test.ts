/** The real debugger engine, run as cdb, beside our own reading. */

import assert from "node:assert/strict";
import { analyzeDumpFile } from "../../../../src/debugger/analyze/analyze_file.ts";
import type { DumpAnalysis } from "../../../../src/contract/dump_analyze.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { engineTest, writeEngineAsCdb } from "../../../support/debugger_engine.ts";
import { dumpMachine, smallDump } from "../../../support/machine_dump.ts";
import { writeMachine } from "../../../support/machine_writer.ts";
import { samplePath } from "../../../support/shared_samples.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

async function analyze(
  folder: string,
  path: string,
  { symbols, commands }: { symbols?: string; commands?: readonly string[] } = {},
): Promise<DumpAnalysis> {
  const programs = new Map([["cdb", await writeEngineAsCdb(folder)]]);
  return await analyzeDumpFile(openDenoHost(programs), {
    path,
    download: false,
    fresh: false,
    full: false,
    limits: { totalMs: 300_000, silenceMs: 120_000, memoryBytes: 4 * 1024 ** 3 },
    programs,
    kept: `${folder}/kept`,
    signal: new AbortController().signal,
    search: { symbols },
    commands,
  });
}

engineTest("the engine as cdb agrees with us on machines that the test has just written", async () => {
  await withTemporaryFolder(async (folder) => {
    const path = `${folder}/written "é".dmp`;
    const machines = [dumpMachine(writeMachine("x64"), "full"), smallDump(writeMachine("arm64")).bytes];
    for (const bytes of [...machines, dumpMachine(writeMachine("x86-pae"), "full")]) {
      await Deno.writeFile(path, bytes);
      const answer = await analyze(folder, path);
      assert.deepEqual([answer.complete, answer.exit_code], [true, 0], answer.partial_text);
      assert.deepEqual(answer.disagreements, []);
      assert.equal(answer.second?.module_count, answer.native?.module_count);
      assert.match(answer.debugger.version ?? "", /^10\.0\./);
    }
  });
});

const SYNTHETIC = "dumps/synthetic/full64.dmp";
engineTest(
  "the engine as cdb names the same frames from the same symbols, and runs the commands that are asked for",
  async () => {
    await withTemporaryFolder(async (folder) => {
      const symbols = samplePath("dumps/made/symbols");
      const answer = await analyze(folder, samplePath(SYNTHETIC), { symbols });
      assert.deepEqual(answer.disagreements, []);
      assert.equal(answer.second?.stack.length, 13);
      assert.deepEqual(answer.second?.stack, answer.native?.stack);
      const asked = await analyze(folder, samplePath(SYNTHETIC), { symbols, commands: ["lm m evil", "k 3"] });
      assert.match(asked.commands?.[0]?.text ?? "", /^start.*\nfffff800`20000000 fffff800`20005000 {3}evil /);
      assert.match(asked.commands?.[1]?.text ?? "", /nt!KiPageFault\+0x54$/);
      assert.equal(asked.native, undefined);
      const shell = await analyze(folder, samplePath(SYNTHETIC), { commands: [".shell echo ran", "k 1"] });
      assert.match(shell.commands?.[0]?.text ?? "", /disabled/i);
      assert.equal(shell.complete, true);
    });
  },
  [SYNTHETIC],
);

engineTest("a dump that the engine refuses still has our own reading", async () => {
  await withTemporaryFolder(async (folder) => {
    const path = `${folder}/short.dmp`;
    // The engine wants to know a processor count; we read the rest all the same.
    const bytes = dumpMachine(writeMachine("x64"), "full");
    bytes.fill(0, 0x34, 0x38);
    await Deno.writeFile(path, bytes);
    const answer = await analyze(folder, path);
    assert.deepEqual([answer.complete, answer.stopped], [false, "exit"]);
    assert.deepEqual(answer.warnings.map(({ reason }) => reason), ["debugger_refused"]);
    assert.notEqual(answer.native?.bugcheck, null);
  });
});
