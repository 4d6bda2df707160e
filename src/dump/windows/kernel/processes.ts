/** The thread and process that a processor was running. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import type { ContextMachine } from "../context.ts";
import type { DebuggerData } from "./debugger_data.ts";
import { processOffsets } from "./process_offsets.ts";

/** A range of stack; the end is the first address behind it. */
export interface StackRange {
  readonly limit: bigint;
  readonly base: bigint;
}

/** A kernel thread. Null: not in the dump, or not known for this build. */
export interface KernelThread {
  readonly address: bigint;
  /** Address of the process that it works for. */
  readonly process: bigint | null;
  readonly processId: number | null;
  readonly threadId: number | null;
  readonly teb: bigint | null;
  /** Where its kernel stack lies; kernels before Windows 8 do not tell. */
  readonly stack: StackRange | null;
  /** Where its stack began to grow down from: at or a little below its base. */
  readonly initialStack: bigint | null;
}

/** A process. Null: not in the dump, or not known for this build. */
export interface KernelProcess {
  readonly address: bigint;
  readonly id: number | null;
  /** Image name as the kernel keeps it: at most 15 characters, a longer one is cut. */
  readonly imageName: string | null;
  readonly directoryTableBase: bigint | null;
  readonly peb: bigint | null;
}

/** What is needed to read structures whose offsets depend on the kernel. */
export interface KernelView {
  readonly memory: VirtualMemory;
  readonly machine: ContextMachine;
  readonly build: number | null;
  readonly data: DebuggerData;
}

const IMAGE_NAME_BYTES = 15;
const PROCESS_ID_LIMIT = 1 << 22;

/** Reads a thread. */
export function readThread(view: KernelView, address: bigint): KernelThread {
  const { data, memory } = view;
  const pointer = (name: Parameters<DebuggerData["offset"]>[0]) =>
    pointerMember(view, address, data.offset(name));
  const client = processOffsets(view.machine, view.build)?.clientId ?? null;
  const width = BigInt(memory.bits / 8);
  const ids = client === null ? null : address + BigInt(client);
  return {
    address,
    process: pointer("thread_process"),
    processId: ids === null ? null : plausibleId(memory.pointer(ids)),
    threadId: ids === null ? null : plausibleId(memory.pointer(ids + width)),
    teb: pointer("thread_teb"),
    stack: readStack(pointer("thread_stack_limit"), pointer("thread_stack_base")),
    initialStack: pointer("thread_initial_stack"),
  };
}

/** Reads a process. Id and name come by a table of builds and are null unless they look like what they should be. */
export function readProcess(view: KernelView, address: bigint): KernelProcess {
  const { data, memory } = view;
  const offsets = processOffsets(view.machine, view.build);
  const id = offsets === null ? null : plausibleId(memory.pointer(address + BigInt(offsets.processId)));
  const name = offsets === null ? null : readImageName(memory, address + BigInt(offsets.imageName));
  // The two are told by one table: when one is wrong, so is the other.
  const trusted = id !== null && name !== null;
  return {
    address,
    id: trusted ? id : null,
    imageName: trusted ? name : null,
    directoryTableBase: pointerMember(view, address, data.offset("process_directory_table_base")),
    peb: pointerMember(view, address, data.offset("process_peb")),
  };
}

function pointerMember(view: KernelView, address: bigint, offset: number | null): bigint | null {
  const value = offset === null ? undefined : view.memory.pointer(address + BigInt(offset));
  return value === undefined || value === 0n ? null : value;
}

function readStack(limit: bigint | null, base: bigint | null): StackRange | null {
  return limit !== null && base !== null && limit < base ? { limit, base } : null;
}

/** Ids are small multiples of four. The idle process has id 0. */
function plausibleId(value: bigint | undefined): number | null {
  if (value === undefined || value >= BigInt(PROCESS_ID_LIMIT) || value % 4n !== 0n) return null;
  return Number(value);
}

function readImageName(memory: VirtualMemory, address: bigint): string | null {
  const bytes = memory.read(address, IMAGE_NAME_BYTES);
  if (bytes === undefined) return null;
  const end = bytes.indexOf(0);
  const name = bytes.subarray(0, end < 0 ? IMAGE_NAME_BYTES : end);
  return name.length > 0 && name.every((byte) => byte >= 0x20 && byte < 0x7F)
    ? String.fromCharCode(...name)
    : null;
}
