/** Threads of a minidump, with their registers, stacks and names. */

import type { ByteReader } from "../bytes.ts";
import type { MemoryBlock } from "../memory/blocks.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { contextBytes, type ContextMachine, parseContext, type RegisterContext } from "../windows/context.ts";
import { readMinidumpString, type StreamRange } from "./directory.ts";
import { LOCATION, THREAD, THREAD_BYTES, THREAD_EX_BYTES, THREAD_NAME, THREAD_NAME_BYTES } from "./layout.ts";
import { countedList } from "./lists.ts";
import { narrowContext } from "./wow64.ts";

/** A thread of the process. */
export interface MinidumpThread {
  readonly id: number;
  /** How often it was suspended; -1 when the writer could not tell. */
  readonly suspendCount: number;
  readonly priorityClass: number;
  readonly priority: number;
  /** Address of its environment block; 0 on systems without one. */
  readonly teb: bigint;
  /** Where its stack was, and where it lies in the file; null when none was recorded. */
  readonly stack: MemoryBlock | null;
  /** Null when it was not recorded or is none of this processor. */
  readonly context: RegisterContext | null;
  readonly name: string | null;
}

/** No process has as many. */
const MAXIMUM_THREADS = 65_536;

/** The two forms of the list. */
export type ThreadListForm = "plain" | "extended";

/** Reads a list of threads, cut to what is there; `names` come from a stream of their own. */
export function readThreadList(
  reader: ByteReader,
  range: StreamRange,
  form: ThreadListForm,
  machine: ContextMachine,
  names: ReadonlyMap<number, string>,
  warnings: DumpWarning[],
): MinidumpThread[] {
  const element = form === "plain" ? THREAD_BYTES : THREAD_EX_BYTES;
  const list = countedList(reader, range, "thread list", element, MAXIMUM_THREADS, warnings);
  return Array.from({ length: list.count }, (_, index) => {
    const entry = list.first + index * element;
    const number = (field: { offset: number }, name: string) => reader.u32(entry + field.offset, name);
    const id = number(THREAD.id, "ThreadId");
    return {
      id,
      suspendCount: reader.i32(entry + THREAD.suspend_count.offset, "SuspendCount"),
      priorityClass: number(THREAD.priority_class, "PriorityClass"),
      priority: number(THREAD.priority, "Priority"),
      teb: reader.u64(entry + THREAD.teb.offset, "Teb"),
      stack: readStack(reader, entry),
      context: readPart(
        warnings,
        () => readContextAt(reader, entry + THREAD.context.offset, machine),
      ),
      name: names.get(id) ?? null,
    };
  });
}

/**
 * Reads the context that a location in the file points to; null when there is none, or one of another processor. In
 * 32-bit code on x64 it is a context of x86.
 */
export function readContextAt(
  reader: ByteReader,
  location: number,
  machine: ContextMachine,
): RegisterContext | null {
  const size = reader.u32(location + LOCATION.size.offset, "context size");
  const rva = reader.u32(location + LOCATION.rva.offset, "context rva");
  if (size < contextBytes(machine) || rva === 0) return null;
  const bytes = reader.bytes(rva, contextBytes(machine), "thread context");
  const context = parseContext(machine, bytes);
  return context === null ? null : narrowContext(context, bytes);
}

/** Reads the ThreadNames stream; a name that cannot be read is left out. */
export function readThreadNames(
  reader: ByteReader,
  range: StreamRange,
  warnings: DumpWarning[],
): Map<number, string> {
  const list = countedList(
    reader,
    range,
    "list of thread names",
    THREAD_NAME_BYTES,
    MAXIMUM_THREADS,
    warnings,
  );
  const names = new Map<number, string>();
  for (let index = 0; index < list.count; index++) {
    const entry = list.first + index * THREAD_NAME_BYTES;
    const rva = reader.u64(entry + THREAD_NAME.rva.offset, "thread name");
    if (rva > BigInt(reader.size)) continue;
    const name = readPart(warnings, () => readMinidumpString(reader, Number(rva), "thread name"));
    if (name !== null) names.set(reader.u32(entry + THREAD_NAME.thread_id.offset, "ThreadId"), name);
  }
  return names;
}

function readStack(reader: ByteReader, entry: number): MemoryBlock | null {
  const size = reader.u32(entry + THREAD.stack_location.offset + LOCATION.size.offset, "stack size");
  const offset = reader.u32(entry + THREAD.stack_location.offset + LOCATION.rva.offset, "stack rva");
  if (size === 0 || offset === 0) return null;
  return { address: reader.u64(entry + THREAD.stack_start.offset, "stack start"), size, offset };
}
