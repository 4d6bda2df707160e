/** The processors of the machine: their control blocks, and what each was doing. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import { fieldText } from "../../text.ts";
import { type ContextMachine, readContext, type RegisterContext } from "../context.ts";
import type { DebuggerData } from "./debugger_data.ts";

/** One processor. Null: not in the dump, or not told by this kernel. */
export interface Processor {
  readonly index: number;
  /** Address of its control block (PRCB). */
  readonly prcb: bigint;
  /** Address of the context that was saved when the machine stopped. */
  readonly contextAddress: bigint | null;
  /** The registers when the machine stopped. On the processor that crashed: inside the bug check call. */
  readonly context: RegisterContext | null;
  readonly currentThread: bigint | null;
  readonly mhz: number | null;
  /** `AuthenticAMD`, `GenuineIntel`; null on ARM64. */
  readonly vendor: string | null;
}

/** More than any Windows machine has. */
const MAXIMUM_PROCESSORS = 1024;
const VENDOR_BYTES = 12;

/** Addresses of the control blocks by processor, at most `count`; null where the dump does not tell. */
export function readProcessorBlocks(
  memory: VirtualMemory,
  data: DebuggerData,
  count: number,
): (bigint | null)[] {
  const list = data.variable("processor_block");
  if (list === null) return [];
  const width = BigInt(memory.bits / 8);
  const blocks: (bigint | null)[] = [];
  for (let index = 0; index < Math.min(count, MAXIMUM_PROCESSORS); index++) {
    const block = memory.pointer(list + BigInt(index) * width);
    blocks.push(block === undefined || block === 0n ? null : block);
  }
  while (blocks.at(-1) === null) blocks.pop();
  return blocks;
}

/** Reads one processor. */
export function readProcessor(
  memory: VirtualMemory,
  machine: ContextMachine,
  data: DebuggerData,
  index: number,
  prcb: bigint,
): Processor {
  const member = (offset: number | null): bigint | null => offset === null ? null : prcb + BigInt(offset);
  const pointerAt = (address: bigint | null): bigint | null => {
    const value = address === null ? undefined : memory.pointer(address);
    return value === undefined || value === 0n ? null : value;
  };
  const saved = pointerAt(member(data.offset("prcb_context")));
  const state = member(data.offset("prcb_processor_state_context"));
  const context = saved === null ? null : readContext(memory, machine, saved);
  // Kernels before Windows 7 keep no pointer to a context: theirs is inside the block.
  const older = context === null && state !== null && data.offset("prcb_context") === null;
  const mhz = member(data.offset("prcb_mhz"));
  return {
    index,
    prcb,
    contextAddress: older ? state : saved,
    context: older ? readContext(memory, machine, state) : context,
    currentThread: pointerAt(member(data.offset("prcb_current_thread"))),
    mhz: mhz === null ? null : memory.u32(mhz) ?? null,
    vendor: readVendor(memory, member(data.offset("prcb_vendor"))),
  };
}

function readVendor(memory: VirtualMemory, address: bigint | null): string | null {
  const bytes = address === null ? undefined : memory.read(address, VENDOR_BYTES);
  if (bytes === undefined || !bytes.every((byte) => byte >= 0x20 && byte < 0x7F)) return null;
  return fieldText(String.fromCharCode(...bytes)).trim() || null;
}
