/** How this kernel writes its ORC rows: they changed twice, and the numbers of registers once more. */

import type { Btf } from "../kernel/btf.ts";
import type { KernelSymbols } from "../kernel/symbol_table.ts";
import type { KernelMemory } from "../kernel/kernel_memory.ts";
import type { OrcPlace } from "../kernel/modules.ts";

/** What a row's base register can be; in brackets what memory at it holds. */
export type OrcRegister =
  | "none"
  | "prev_sp"
  | "ax"
  | "dx"
  | "di"
  | "bp"
  | "sp"
  | "r10"
  | "r13"
  | "[bp]"
  | "[sp]";

/** What stands at the address that a row computes. */
export type OrcType = "undefined" | "end" | "call" | "regs" | "partial";

/** One row, understood. */
export interface OrcRow {
  readonly spOffset: number;
  readonly bpOffset: number;
  readonly spRegister: OrcRegister;
  readonly bpRegister: OrcRegister;
  readonly type: OrcType;
}

/** Bytes of a row: two offsets and a word of numbers. */
export const ORC_ROW_BYTES = 6;

type Shape = "end_bit" | "end_bit_behind_signal" | "end_type";
const SHORT_TYPES: readonly OrcType[] = ["call", "regs", "partial", "call"];
const LONG_TYPES: readonly OrcType[] = ["undefined", "end", "call", "regs", "partial"];
const OLD_REGISTERS: readonly OrcRegister[] = [
  "none",
  "prev_sp",
  "dx",
  "di",
  "bp",
  "sp",
  "r10",
  "r13",
  "[bp]",
  "[sp]",
  "ax",
];
const NEW_REGISTERS: readonly OrcRegister[] = [
  "none",
  "ax",
  "dx",
  "sp",
  "bp",
  "di",
  "r10",
  "r13",
  "prev_sp",
  "[sp]",
  "[bp]",
];
/** `orc_header` is a hash of the kernel's definition; of these two it is known which numbers they use. */
const KNOWN_HEADERS: ReadonlyMap<string, readonly OrcRegister[]> = new Map([
  ["fe5d32bf581bd63b2ca9a5c65ba5a625eab3fe24", OLD_REGISTERS],
  ["137c36ad7627c4dd55932176bb0ecdbd5041fc82", NEW_REGISTERS],
]);
const HEADER_BYTES = 20;
/** Almost every function begins with a row "call, sp + 8": so many rows tell the number of sp. */
const SAMPLED_ROWS = 512;
const CALL = 2;

/** Reads rows of one kernel. */
export class OrcFormat {
  readonly #shape: Shape;
  readonly #registers: readonly OrcRegister[];

  constructor(shape: Shape, registers: readonly OrcRegister[]) {
    this.#shape = shape;
    this.#registers = registers;
  }

  /** The row in `view`, which has {@link ORC_ROW_BYTES} bytes. */
  read(view: DataView): OrcRow {
    const word = view.getUint16(4, true);
    const spRegister = this.#registers[word & 15] ?? "none";
    const type = this.#typeOf(word);
    return {
      spOffset: view.getInt16(0, true),
      bpOffset: view.getInt16(2, true),
      spRegister,
      bpRegister: this.#registers[(word >> 4) & 15] ?? "none",
      // Before there was a type for it, a call without a base register stood for code that cannot be unwound.
      type: spRegister === "none" && type === "call" ? "undefined" : type,
    };
  }

  #typeOf(word: number): OrcType {
    if (this.#shape === "end_type") return LONG_TYPES[(word >> 8) & 7] ?? "undefined";
    const end = this.#shape === "end_bit" ? 10 : 11;
    return ((word >> end) & 1) === 1 ? "end" : SHORT_TYPES[(word >> 8) & 3] ?? "undefined";
  }
}

/**
 * Tells the format from the kernel's types, its header and, failing that, from the rows themselves. `types` is null for
 * a kernel without; then its release tells.
 */
export function detectOrcFormat(
  memory: KernelMemory,
  types: Btf | null,
  symbols: KernelSymbols,
  release: string | null,
  table: OrcPlace | null,
): OrcFormat {
  const shape = types?.has("orc_entry.type") === true ? shapeOfTypes(types) : shapeOfRelease(release ?? "");
  if (shape !== "end_type") return new OrcFormat(shape, OLD_REGISTERS);
  return new OrcFormat(shape, registersByHeader(memory, symbols) ?? registersByRows(memory, table));
}

function shapeOfTypes(types: Btf): Shape {
  if (types.place("orc_entry.type")?.width === 3) return "end_type";
  return types.has("orc_entry.signal") ? "end_bit_behind_signal" : "end_bit";
}

function shapeOfRelease(release: string): Shape {
  const [major = 0, minor = 0] = release.split(/[^0-9]+/).map(Number);
  if (major > 6 || major === 6 && minor > 3) return "end_type";
  return major === 6 && minor === 3 ? "end_bit_behind_signal" : "end_bit";
}

function registersByHeader(memory: KernelMemory, symbols: KernelSymbols): readonly OrcRegister[] | null {
  const address = symbols.addressOf("orc_header");
  const bytes = address === null ? undefined : memory.space.read(address, HEADER_BYTES);
  if (bytes === undefined) return null;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return KNOWN_HEADERS.get(digits) ?? null;
}

function registersByRows(memory: KernelMemory, table: OrcPlace | null): readonly OrcRegister[] {
  if (table === null) return OLD_REGISTERS;
  const votes = { old: 0, new: 0 };
  const { bytes } = memory.space.readUpTo(table.rows, ORC_ROW_BYTES * Math.min(SAMPLED_ROWS, table.count));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + ORC_ROW_BYTES <= bytes.length; at += ORC_ROW_BYTES) {
    const word = view.getUint16(at + 4, true);
    if (view.getInt16(at, true) !== 8 || ((word >> 8) & 7) !== CALL) continue;
    if ((word & 15) === OLD_REGISTERS.indexOf("sp")) votes.old++;
    if ((word & 15) === NEW_REGISTERS.indexOf("sp")) votes.new++;
  }
  return votes.new > votes.old ? NEW_REGISTERS : OLD_REGISTERS;
}
