/** The kernel's debugger data block (KDBG): addresses of its variables and offsets inside its structures. */

import { at, type Field, type Layout } from "../../layout.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";

/** Fields by name; one layout for every kernel since XP, newer ones are only longer. Offsets are hexadecimal. */
export const DEBUGGER_DATA = {
  owner_tag: at(0x10, 4, "rekall"),
  size: at(0x14, 4, "rekall"),
  kernel_base: at(0x18, 8, "rekall"),
  flags: at(0x36, 2, "debugger-observed"),
  ps_loaded_module_list: at(0x48, 8, "rekall"),
  ps_active_process_head: at(0x50, 8, "rekall"),
  bug_check_data: at(0x88, 8, "rekall"),
  mm_pfn_database: at(0xC0, 8, "rekall"),
  mm_highest_user_address: at(0x1C8, 8, "rekall"),
  mm_system_range_start: at(0x1D0, 8, "rekall"),
  nt_build_lab: at(0x208, 8, "rekall"),
  processor_block: at(0x218, 8, "rekall"),
  unloaded_drivers: at(0x220, 8, "rekall"),
  last_unloaded_driver: at(0x228, 8, "rekall"),
  thread_teb: at(0x29A, 2, "rekall"),
  thread_kernel_stack: at(0x29C, 2, "rekall"),
  thread_initial_stack: at(0x29E, 2, "rekall"),
  thread_process: at(0x2A0, 2, "rekall"),
  thread_state: at(0x2A2, 2, "rekall"),
  process_size: at(0x2A8, 2, "rekall"),
  process_peb: at(0x2AA, 2, "rekall"),
  process_parent_id: at(0x2AC, 2, "rekall"),
  process_directory_table_base: at(0x2AE, 2, "rekall"),
  prcb_size: at(0x2B0, 2, "rekall"),
  prcb_current_thread: at(0x2B4, 2, "rekall"),
  prcb_mhz: at(0x2B6, 2, "rekall"),
  prcb_vendor: at(0x2BA, 2, "rekall"),
  prcb_processor_state_context: at(0x2BC, 2, "rekall"),
  prcb_number: at(0x2BE, 2, "rekall"),
  thread_size: at(0x2C0, 2, "rekall"),
  prcb_special_registers: at(0x2F2, 2, "ghidra"),
  prcb_context: at(0x338, 2, "ghidra"),
  thread_stack_limit: at(0x340, 2, "debugger-observed"),
  thread_stack_base: at(0x344, 2, "debugger-observed"),
  thread_irp_list: at(0x34C, 2, "debugger-observed"),
  prcb_idle_thread: at(0x350, 2, "debugger-observed"),
  prcb_dpc_stack: at(0x354, 2, "debugger-observed"),
  prcb_isr_stack: at(0x356, 2, "debugger-observed"),
} as const satisfies Layout;

/** Name of a field of the block. */
export type DebuggerDataField = keyof typeof DEBUGGER_DATA;

/** `KDBG`. */
const OWNER_TAG = 0x4742444B;
/** Up to the tag and the size. */
const HEAD_BYTES = 0x18;
/** Windows XP's block; nothing shorter holds what is needed. */
const SMALLEST = 0x290;
const LARGEST = 0x1000;

const PAE_FLAG = 1;
const PAGING_LEVELS_SHIFT = 2;
const PAGING_LEVELS_MASK = 0xF;

/** A debugger data block that has been read and, where needed, decoded. */
export class DebuggerData {
  /** Where the block lies. */
  readonly address: bigint;
  readonly size: number;
  /** Whether it was scrambled in memory. */
  readonly decoded: boolean;
  readonly #bits: 32 | 64;
  readonly #view: DataView;

  constructor(address: bigint, bits: 32 | 64, bytes: Uint8Array, decoded: boolean) {
    this.address = address;
    this.size = bytes.length;
    this.decoded = decoded;
    this.#bits = bits;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /**
   * Address of a kernel variable or object, cut to the machine's width; null when the block is too short for the
   * field or holds 0.
   */
  variable(name: DebuggerDataField): bigint | null {
    const field: Field = DEBUGGER_DATA[name];
    if (field.size !== 8 || !this.#has(field)) return null;
    const value = BigInt.asUintN(this.#bits, this.#view.getBigUint64(field.offset, true));
    return value === 0n ? null : value;
  }

  /**
   * Offset of a member inside a structure, or a structure's size; null when the block is too short for the field.
   * 0 is an offset as well, so it is not judged here.
   */
  offset(name: DebuggerDataField): number | null {
    const field: Field = DEBUGGER_DATA[name];
    return field.size === 2 && this.#has(field) ? this.#view.getUint16(field.offset, true) : null;
  }

  /** Whether 32-bit page tables have 64-bit entries. */
  get pae(): boolean {
    return ((this.offset("flags") ?? 0) & PAE_FLAG) !== 0;
  }

  /** Levels of page tables; 0 when the kernel does not say. */
  get pagingLevels(): number {
    return ((this.offset("flags") ?? 0) >> PAGING_LEVELS_SHIFT) & PAGING_LEVELS_MASK;
  }

  #has(field: Field): boolean {
    return field.offset + field.size <= this.size;
  }
}

/** What was found where a debugger data block should be. */
export type DebuggerDataResult =
  | { readonly found: "plain"; readonly data: DebuggerData }
  /** Something is there, and it is not a plain block. */
  | { readonly found: "unreadable_form" }
  | { readonly found: "missing" };

/** Reads a plain block at an address. Never more than the block's own size, which must be sensible. */
export function readDebuggerData(memory: VirtualMemory, address: bigint): DebuggerDataResult {
  const head = memory.read(address, HEAD_BYTES);
  if (head === undefined) return { found: "missing" };
  const size = plainSize(head);
  if (size === null) return { found: "unreadable_form" };
  const { bytes } = memory.readUpTo(address, size);
  if (bytes.length < SMALLEST) return { found: "missing" };
  return { found: "plain", data: new DebuggerData(address, memory.bits, bytes, false) };
}

/** Addresses of the three variables that a scrambled block is decoded with, from the kernel's symbols. */
export interface DecodingVariables {
  /** Address of KiWaitNever. */
  readonly waitNever: bigint;
  /** Address of KiWaitAlways. */
  readonly waitAlways: bigint;
  /** Address of KdpDataBlockEncoded; the address itself is part of the key. */
  readonly dataBlockEncoded: bigint;
}

/**
 * Decodes a scrambled block. Null when the variables are not in the dump or do not fit: the tag does not come out.
 * The steps agree in the three public readers that know them, and were checked on a made dump.
 */
export function decodeDebuggerData(
  memory: VirtualMemory,
  address: bigint,
  variables: DecodingVariables,
): DebuggerData | null {
  const never = memory.u64(variables.waitNever);
  const always = memory.u64(variables.waitAlways);
  const head = memory.read(address, HEAD_BYTES);
  if (never === undefined || always === undefined || head === undefined) return null;
  const key = { never, always, address: BigInt.asUintN(64, variables.dataBlockEncoded) };
  const size = plainSize(decodeWords(head, key));
  if (size === null) return null;
  const encoded = memory.read(address, (size + 7) & ~7);
  if (encoded === undefined) return null;
  return new DebuggerData(address, memory.bits, decodeWords(encoded, key).subarray(0, size), true);
}

interface DecodingKey {
  readonly never: bigint;
  readonly always: bigint;
  readonly address: bigint;
}

function decodeWords(bytes: Uint8Array, key: DecodingKey): Uint8Array {
  const decoded = new Uint8Array(bytes.length);
  const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const to = new DataView(decoded.buffer);
  const turns = key.never & 63n;
  for (let offset = 0; offset + 8 <= bytes.length; offset += 8) {
    const mixed = from.getBigUint64(offset, true) ^ key.never;
    const rotated = BigInt.asUintN(64, (mixed << turns) | (mixed >> (64n - turns)));
    to.setBigUint64(offset, rotated ^ key.address, false); // big-endian here: the bytes are reversed
    to.setBigUint64(offset, to.getBigUint64(offset, true) ^ key.always, true);
  }
  return decoded;
}

/** Size that a block's head tells; null when it is not a plain block. */
function plainSize(head: Uint8Array): number | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(DEBUGGER_DATA.owner_tag.offset, true) !== OWNER_TAG) return null;
  const size = view.getUint32(DEBUGGER_DATA.size.offset, true);
  return size >= SMALLEST && size <= LARGEST ? size : null;
}
