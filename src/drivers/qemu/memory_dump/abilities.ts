/**
 * A guest's memory as a file. QEMU writes into a pipe and we write the file, since QEMU 7.2 has no command that ends a
 * dump: a pipe that nobody reads any more does, and the guest goes on. So it also does when hvlab is killed.
 */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { VmState } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { MemoryDump, MemoryDumpAbilities, MemoryDumpOptions } from "../../memory_dump_abilities.ts";
import type { QemuContext } from "../context.ts";
import { type Observation, observe } from "../observe.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { readFreeBytes } from "../space.ts";
import { takeVmLock } from "../vm_lock.ts";
import { dumpIntoPipe } from "./pipe.ts";
import { SparseWriter } from "./sparse_writer.ts";

/** States in which memory is there and does not change by a load or a save that goes on. */
const WITH_MEMORY: ReadonlySet<VmState> = new Set<VmState>(["running", "paused", "crashed", "io_error"]);

/** Where a dump is at work, noted in the VM's folder: a call that was killed leaves it to the next one to tidy up. */
const NOTE_FILE = "dump.txt";

/** Opens them. Touches nothing by itself. */
export function openMemoryDumps(context: QemuContext, records: VmRecords): MemoryDumpAbilities {
  return { dump: (id, file, options, scope) => dumpMemory(context, records, id, file, options, scope) };
}

async function dumpMemory(
  context: QemuContext,
  records: VmRecords,
  id: string,
  file: string,
  options: MemoryDumpOptions,
  scope: CallScope,
): Promise<MemoryDump> {
  const { files } = context.host;
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "dumping", "idle");
  const record = await records.get(id);
  const seen = await observe(context, record, scope.signal);
  if (!WITH_MEMORY.has(seen.state)) throw withoutMemory(record, seen);
  await refuseTakenFile(context, file, options);
  if (!options.sparse) await requireRoom(context, record, folderOf(file), scope.signal);
  await removeBrokenOff(context, id);
  const passing = joinPath(folderOf(file), `.${nameOf(file)}${passingEnd(id)}`);
  const note = joinPath(context.state.vm(id), NOTE_FILE);
  await using undo = new UndoList();
  undo.add("note", () => files.remove(note));
  await files.writeAtomically(note, passing);
  undo.add("file", () => files.remove(passing));
  using writer = await files.create(passing);
  const target = new SparseWriter(writer, options.sparse);
  await dumpIntoPipe(context, record, options.format, target, scope);
  await writer.sync();
  writer.close();
  scope.signal.throwIfAborted();
  await refuseTakenFile(context, file, options);
  await files.rename(passing, file);
  undo.keep();
  await files.remove(note);
  const facts = await files.stat(file);
  return {
    format: options.format,
    size_bytes: facts?.size_bytes ?? target.total,
    allocated_bytes: facts?.allocated_bytes ?? null,
  };
}

function passingEnd(id: string): string {
  return `.${id}.part`;
}

/** Removes what an earlier dump of this VM left that was killed: only a file that bears the VM's id. */
async function removeBrokenOff({ host, state }: QemuContext, id: string): Promise<void> {
  const note = joinPath(state.vm(id), NOTE_FILE);
  const passing = await host.files.readTextIfPresent(note);
  if (passing === undefined) return;
  if (passing.endsWith(passingEnd(id)) && (await host.files.stat(passing))?.kind === "file") {
    await host.files.remove(passing);
  }
  await host.files.remove(note);
}

async function refuseTakenFile(
  { host }: QemuContext,
  file: string,
  { overwrite }: MemoryDumpOptions,
): Promise<void> {
  const facts = await host.files.stat(file);
  if (facts === undefined || (overwrite && facts.kind === "file")) return;
  throw new HvError("hv.conflict", `Cannot write memory to "${file}": it exists (a ${facts.kind})`, {
    hint: facts.kind === "file" ? "Name another file, or give --overwrite" : "Name another file",
    context: { path: file, wanted: "absent", found: facts.kind },
  });
}

async function requireRoom(
  { host }: QemuContext,
  { memory_mb }: VmRecord,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const free = await readFreeBytes(host, folder, signal);
  const wanted = memory_mb * 1024 * 1024;
  if (free === undefined || free >= wanted) return;
  throw new HvError(
    "hv.io",
    `There is no room for the guest's memory in "${folder}": wanted ${memory_mb} MiB, found ${
      Math.floor(free / 1024 ** 2)
    } MiB free`,
    {
      hint: "Free some space, name another folder, or leave holes for memory that holds zeros",
      context: { path: folder, reason: "disk_full", wanted_bytes: wanted, free_bytes: free },
    },
  );
}

function withoutMemory({ id, name }: VmRecord, { state, reason }: Observation): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError(
    "hv.conflict",
    `Cannot dump the memory of "${name}": wanted "running", "paused" or "crashed", found "${state}"${because}`,
    {
      hint: state === "off" || state === "saved"
        ? `Start it: hvlab vm start ${id}`
        : "Look at the VM's state and try again",
      context: { vm: id, wanted: [...WITH_MEMORY], found: state },
    },
  );
}
