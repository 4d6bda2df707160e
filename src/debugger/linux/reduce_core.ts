/**
 * Makes a core smaller without making it tell less: what triage, log and tasks read of it is kept, the rest is left
 * out. They are asked of the smaller core before it takes the place of the whole one, and must say the same.
 */

import type { Clock } from "../../base/clock.ts";
import { HvError, toHvError } from "../../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../../base/paths.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { CoreMemory } from "../../contract/crash_policy.ts";
import type { DumpInspection } from "../../contract/dump.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import { openElfCore } from "../../dump/linux/containers/elf_core.ts";
import { LinuxKernel } from "../../dump/linux/kernel/kernel.ts";
import { dmesgLines } from "../../dump/linux/kernel/log_record.ts";
import { touchNeighbours } from "../../dump/linux/reduction/kept_memory.ts";
import { RecordingMemory } from "../../dump/linux/reduction/recording_memory.ts";
import { layOutReduced, type ReducedLayout } from "../../dump/linux/reduction/reduced_elf.ts";
import type { Files } from "../../host/files.ts";
import { inspectDumpFile } from "../inspect_file.ts";
import { answerLinuxCore } from "./answer_core.ts";
import { describeTask, findTasks } from "./list_tasks.ts";

/** What reducing needs of the host. */
export interface ReductionHost {
  readonly files: Files;
  readonly clock: Clock;
}

/** Beyond so many tasks their stacks take too long: the core stays whole. */
const MOST_TASKS = 20_000;
/** Whoever else waits for this process gets a turn after so many stacks, and a signal is heard. */
const TASKS_AT_ONCE = 128;
const PIECE_BYTES = 1024 * 1024;

/**
 * Reduces the ELF core of a Linux machine in its place, and answers what it holds afterwards. The file is replaced at
 * once or stays as it is; a core that cannot be reduced is no failure, and `reason` says why. One that is reduced
 * already is left alone. Fails with the signal's reason, and as `inspectDumpFile` does for what is no core.
 */
export async function reduceCore(
  host: ReductionHost,
  path: string,
  signal: AbortSignal,
): Promise<CoreMemory> {
  const { inspection } = await inspectDumpFile(host.files, host.clock, path, signal);
  const held = Number(inspection.memory_bytes ?? 0);
  const before = inspection.reduced_from_bytes;
  if (before !== undefined && before !== null) {
    return { reduced: true, kept_bytes: held, of_bytes: Number(before) };
  }
  try {
    const kept = await replaceCore(host, path, inspection, held, signal);
    return { reduced: true, kept_bytes: kept, of_bytes: held };
  } catch (thrown) {
    signal.throwIfAborted();
    return { reduced: false, kept_bytes: held, of_bytes: held, reason: toHvError(thrown).message };
  }
}

/** What a core holds that stays whole, and why it does. Fails as `inspectDumpFile` does. */
export async function leaveCoreWhole(
  { files, clock }: ReductionHost,
  path: string,
  reason: string,
  signal: AbortSignal,
): Promise<CoreMemory> {
  const { inspection } = await inspectDumpFile(files, clock, path, signal);
  const held = Number(inspection.memory_bytes ?? 0);
  return { reduced: false, kept_bytes: held, of_bytes: held, reason };
}

async function replaceCore(
  host: ReductionHost,
  path: string,
  inspection: DumpInspection,
  memoryBytes: number,
  signal: AbortSignal,
): Promise<number> {
  const { files, clock } = host;
  const passing = joinPath(folderOf(path), `.${nameOf(path)}.reduced.part`);
  using whole = files.open(path);
  const core = openElfCore(whole);
  const memory = new RecordingMemory(core.physical);
  const kernel = new LinuxKernel({ ...core, physical: memory });
  const answers = await answersOf(clock, kernel, inspection, signal);
  touchNeighbours(kernel);
  const layout = layOutReduced(whole, core.physical, memory.frames, memoryBytes);
  try {
    await writeReduced(files, passing, whole, layout, signal);
    const seen = await inspectDumpFile(files, clock, passing, signal);
    using reduced = files.open(passing);
    const again = new LinuxKernel(openElfCore(reduced));
    if (answers !== await answersOf(clock, again, { ...seen.inspection, path }, signal)) {
      throw new HvError("hv.internal", "The reduced core did not tell the same as the whole one");
    }
    await files.rename(passing, path);
  } finally {
    await files.remove(passing);
  }
  return layout.kept;
}

/** All that can be asked of a core, as one text to compare. */
async function answersOf(
  clock: Clock,
  kernel: LinuxKernel,
  inspection: DumpInspection,
  signal: AbortSignal,
): Promise<string> {
  const { os_version, processors, producer, build_id, panic, report } = inspection;
  const triage = answerLinuxCore(kernel, inspection, true);
  const log = kernel.log()?.records.flatMap(dmesgLines).map(visibleText) ?? null;
  const found = findTasks(kernel);
  if (found.length > MOST_TASKS) {
    throw new HvError("hv.unsupported", `The machine had ${found.length} tasks, more than ${MOST_TASKS}`);
  }
  const tasks: string[] = [];
  for (const [index, each] of found.entries()) {
    if (index % TASKS_AT_ONCE === 0) await clock.sleep(0, signal);
    tasks.push(JSON.stringify(describeTask(kernel, each, true)));
  }
  const headers = { os_version, processors, producer, build_id, panic, report };
  return JSON.stringify({ headers, triage, log, tasks, warnings: kernel.warnings });
}

async function writeReduced(
  files: Files,
  path: string,
  whole: ByteSource,
  { head, runs }: ReducedLayout,
  signal: AbortSignal,
): Promise<void> {
  using writer = await files.create(path, { overwrite: true });
  await writer.write(head);
  for (const { offset, length } of runs) {
    for (let done = 0; done < length; done += PIECE_BYTES) {
      signal.throwIfAborted();
      await writer.write(whole.read(offset + done, Math.min(PIECE_BYTES, length - done)));
    }
  }
  await writer.sync();
}
