/** Symbols of a kernel, and those that a file beside the dump tells: `System.map` or `vmlinux`. */

import { ByteReader, type ByteSource } from "../../bytes.ts";
import { at } from "../../layout.ts";
import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";

/** Where an address lies among the symbols. */
export interface KernelSymbol {
  readonly name: string;
  readonly start: bigint;
  /** Up to the next symbol; null behind the last one. */
  readonly size: number | null;
}

/** All symbols of a kernel, however they were found. */
export interface KernelSymbols {
  readonly count: number;
  /** Address of the first symbol of that name; null when there is none. */
  addressOf(name: string): bigint | null;
  /** The last symbol at or below an address, of several at one place the first; null below all. */
  at(address: bigint): KernelSymbol | null;
}

/** A symbol as a file has it, not moved yet. */
type FileSymbol = readonly [name: string, address: bigint];

/** Below the kernel's half, addresses are places in a processor's own memory and are not moved. */
const KERNEL_HALF = 0xFFFF_0000_0000_0000n;
const MOST_SYMBOLS = 2_000_000;
const MAP_LINE = /^([0-9a-f]{8,16}) \w (\S+)/;

/** Symbols in a list of our own. */
export class SymbolTable implements KernelSymbols {
  readonly #sorted: readonly FileSymbol[];
  readonly #byName: ReadonlyMap<string, bigint>;

  /** `offset` is how far the kernel was moved at its start. */
  constructor(symbols: readonly FileSymbol[], offset: bigint) {
    const moved = symbols.map(([name, address]): FileSymbol => [
      name,
      address >= KERNEL_HALF ? address + offset : address,
    ]);
    this.#byName = new Map(moved.toReversed());
    this.#sorted = moved.sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  get count(): number {
    return this.#sorted.length;
  }

  addressOf(name: string): bigint | null {
    return this.#byName.get(name) ?? null;
  }

  at(address: bigint): KernelSymbol | null {
    const behind = this.#firstAbove(address);
    const last = this.#sorted[behind - 1];
    if (last === undefined) return null;
    const [, start] = last;
    const [name] = this.#sorted[this.#firstAbove(start - 1n)] ?? last;
    const next = this.#sorted[behind];
    return { name: fieldText(name), start, size: next === undefined ? null : Number(next[1] - start) };
  }

  #firstAbove(address: bigint): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle]?.[1] ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Reads the lines of a `System.map`: address, type, name. */
export function readSystemMap(text: string): FileSymbol[] {
  const symbols: FileSymbol[] = [];
  for (const line of text.split("\n")) {
    const match = MAP_LINE.exec(line);
    if (match?.[2] !== undefined) symbols.push([match[2], BigInt(`0x${match[1]}`)]);
    if (symbols.length >= MOST_SYMBOLS) break;
  }
  return symbols;
}

const ELF = {
  sections: at(0x28, 8, "elf-specification"),
  section_count: at(0x3C, 2, "elf-specification"),
} as const;
const SECTION = {
  type: at(0x04, 4, "elf-specification"),
  offset: at(0x18, 8, "elf-specification"),
  size: at(0x20, 8, "elf-specification"),
  link: at(0x28, 4, "elf-specification"),
} as const;
const SECTION_BYTES = 64;
const SYMBOL_BYTES = 24;
const SYMBOL_TABLE = 2;
/** Kinds of symbols that name no place: sections and files. */
const PLACELESS: ReadonlySet<number> = new Set([3, 4]);

/** Reads the symbol table of a `vmlinux`. Fails with `hv.bad_dump` (`kallsyms`, `truncated`) when it has none. */
export function readVmlinux(source: ByteSource): FileSymbol[] {
  const reader = new ByteReader(source, { what: "vmlinux" });
  const sections = Number(reader.u64(ELF.sections.offset, "e_shoff"));
  const count = reader.u16(ELF.section_count.offset, "e_shnum");
  const part = (index: number) => {
    const header = sections + index * SECTION_BYTES;
    const offset = Number(reader.u64(header + SECTION.offset.offset, "sh_offset"));
    return reader.bytes(offset, Number(reader.u64(header + SECTION.size.offset, "sh_size")), "section");
  };
  for (let index = 0; index < count; index++) {
    const header = sections + index * SECTION_BYTES;
    if (reader.u32(header + SECTION.type.offset, "sh_type") !== SYMBOL_TABLE) continue;
    return readElfSymbols(part(index), part(reader.u32(header + SECTION.link.offset, "sh_link")));
  }
  throw badDump(
    "kallsyms",
    "The vmlinux has no symbol table: it was stripped",
    {},
    "Give the System.map instead",
  );
}

function readElfSymbols(table: Uint8Array, strings: Uint8Array): FileSymbol[] {
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const symbols: FileSymbol[] = [];
  for (
    let entry = 0;
    entry + SYMBOL_BYTES <= table.length && symbols.length < MOST_SYMBOLS;
    entry += SYMBOL_BYTES
  ) {
    const address = view.getBigUint64(entry + 8, true);
    if (address === 0n || PLACELESS.has(view.getUint8(entry + 4) & 15)) continue;
    const start = view.getUint32(entry, true);
    const end = strings.indexOf(0, start);
    if (start < strings.length && end > start) {
      symbols.push([String.fromCharCode(...strings.subarray(start, end)), address]);
    }
  }
  return symbols;
}
