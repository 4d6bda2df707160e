/**
 * One piece of work on a dump in a process of its own, measured from inside: `dump_work.ts WORK FILE [OTHER]` prints the
 * milliseconds of processor time that the work took and the memory that the process holds at its end. The work is first done on another, small
 * file, so that loading modules is not counted: whole processes are measured apart.
 */

import process from "node:process";
import { HvError } from "../../src/base/errors.ts";
import { inspectDumpFile } from "../../src/debugger/inspect_file.ts";
import { triageDumpFile } from "../../src/debugger/triage/triage_file.ts";
import { openDump } from "../../src/dump/open.ts";
import { PdbFile } from "../../src/dump/pdb/pdb.ts";
import { systemClock } from "../../src/host/clock.ts";
import { denoFiles } from "../../src/host/files.ts";

const WORKS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  inspect: (path) => inspectDumpFile(denoFiles, systemClock, path),
  triage: (path) => triageDumpFile(denoFiles, systemClock, { path, full: false }),
  pages(path) {
    using file = denoFiles.open(path);
    const session = openDump(file);
    const list = session.mode === "kernel" ? session.header.psLoadedModuleList : null;
    if (list === null || session.memory.read(list, 16) === undefined) {
      throw new HvError("hv.internal", "The dump's pages cannot be read");
    }
    return Promise.resolve();
  },
  symbol(path) {
    using file = denoFiles.open(path);
    const found = new PdbFile(file).locate(0x1000 + 16 * 123_456 + 7, 0x1000 + 16 * 123_456 + 7);
    if (found?.symbol.name !== "function_with_a_name_123456") {
      throw new HvError("hv.internal", "The symbol is another one");
    }
    return Promise.resolve();
  },
};

/** What this process has used of the processor, in milliseconds: other programs do not make it longer. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

if (import.meta.main) {
  const [name = "", path = "", other] = Deno.args;
  const work = WORKS[name];
  if (work === undefined) throw new HvError("hv.usage", `There is no work "${name}"`);
  if (other !== undefined) await work(other);
  const start = processorTime();
  await work(path);
  const milliseconds = processorTime() - start;
  console.log(JSON.stringify({ milliseconds, megabytes: Deno.memoryUsage().rss / 1e6 }));
}
