/** The kernel's own symbols, as it keeps them packed in its memory. */

import { badDump } from "../../reasons.ts";
import { type KallsymsTables, searchTables, statedTables } from "./kallsyms_tables.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import { readSymbolNames, type SymbolNames } from "./symbol_names.ts";
import type { KernelSymbol, KernelSymbols } from "./symbol_table.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

/** How the table of addresses is written; the one under which `_stext` is where it must be holds. */
export type AddressEncoding =
  /** Negative values from the base, others as they stand: to Linux 6.14. */
  | "percpu-absolute"
  /** Unsigned values from the base: since Linux 6.15. */
  | "unsigned"
  /** Values from the place of the entry itself: the newest kernels. */
  | "place-relative";

const FEWEST_SYMBOLS = 1000;
const MOST_SYMBOLS = 2_000_000;
const ANCHOR = "_stext";

/** All symbols. Addresses are kept as signed numbers, which hold both the image's and those of per-CPU data. */
export class Kallsyms implements KernelSymbols {
  readonly foundBy: KallsymsTables["foundBy"];
  readonly encoding: AddressEncoding;
  /** The highest of its tables: of the kernel's read-only data, what follows is behind it. */
  readonly lastTable: bigint;
  readonly #names: SymbolNames;
  readonly #addresses: Float64Array;
  readonly #located = new Map<number, KernelSymbol | null>();
  readonly #named = new Map<string, bigint | null>();

  constructor(
    tables: KallsymsTables,
    names: SymbolNames,
    { encoding, addresses }: { encoding: AddressEncoding; addresses: Float64Array },
  ) {
    this.foundBy = tables.foundBy;
    this.encoding = encoding;
    const { names: packed, tokenIndex, offsets } = tables;
    this.lastTable = [packed, tokenIndex].reduce((last, table) => table > last ? table : last, offsets);
    this.#names = names;
    this.#addresses = addresses;
  }

  get count(): number {
    return this.#names.count;
  }

  addressOf(name: string): bigint | null {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const index = this.#names.indexOf(name);
    const value = index < 0 ? undefined : this.#addresses[index];
    const address = value === undefined ? null : BigInt.asUintN(64, BigInt(value));
    this.#named.set(name, address);
    return address;
  }

  at(address: bigint): KernelSymbol | null {
    const wanted = Number(BigInt.asIntN(64, address));
    const known = this.#located.get(wanted);
    if (known !== undefined) return known;
    const found = this.#search(wanted);
    this.#located.set(wanted, found);
    return found;
  }

  #search(wanted: number): KernelSymbol | null {
    let best = -1;
    let start = -Infinity;
    let end = Infinity;
    const addresses = this.#addresses;
    for (let index = 0; index < addresses.length; index++) {
      const address = addresses[index] ?? 0;
      if (address > wanted) {
        if (address < end) end = address;
      } else if (address > start) {
        start = address;
        best = index;
      }
    }
    if (best < 0) return null;
    return {
      name: this.#names.nameAt(best),
      start: BigInt.asUintN(64, BigInt(start)),
      size: end === Infinity ? null : end - start,
    };
  }
}

/** Finds and reads the symbols. Fails with `hv.bad_dump` (`kallsyms`, `missing_memory`) when they cannot be used. */
export function openKallsyms(memory: KernelMemory, info: Vmcoreinfo): Kallsyms {
  const anchor = info.symbol(ANCHOR);
  if (anchor === null) throw badDump("kallsyms", `VMCOREINFO does not say where ${ANCHOR} is`);
  const tables = statedTables(info) ?? searchTables(memory, anchor);
  if (tables === null) {
    throw badDump(
      "kallsyms",
      "The kernel's symbols were not found: VMCOREINFO does not name them, nor are they in its image",
    );
  }
  const count = memory.u32(tables.count, "the number of kernel symbols");
  if (count < FEWEST_SYMBOLS || count > MOST_SYMBOLS) {
    throw badDump("kallsyms", `The kernel claims ${count} symbols`, { found: count, expected: MOST_SYMBOLS });
  }
  const names = readSymbolNames(memory, tables, count);
  return new Kallsyms(tables, names, readAddresses(memory, tables, names, anchor));
}

function readAddresses(
  memory: KernelMemory,
  { offsets, relativeBase }: KallsymsTables,
  names: SymbolNames,
  anchor: bigint,
): { encoding: AddressEncoding; addresses: Float64Array } {
  const view = memory.view(offsets, names.count * 4, "the addresses of kernel symbols");
  const base = relativeBase === null ? 0 : signed(memory.u64(relativeBase, "the base of kernel symbols"));
  const table = signed(offsets);
  const decoders: readonly [AddressEncoding, (value: number, index: number) => number][] = [
    ["percpu-absolute", (value) => value >= 0 ? value : base - 1 - value],
    ["unsigned", (value) => base + (value >>> 0)],
    ["place-relative", (value, index) => table + 4 * index + value],
  ];
  const index = names.indexOf(ANCHOR);
  const wanted = signed(anchor);
  const found = index < 0
    ? undefined
    : decoders.find(([, decode]) => decode(view.getInt32(4 * index, true), index) === wanted);
  if (found === undefined) {
    throw badDump("kallsyms", `The kernel's symbols and VMCOREINFO do not agree about ${ANCHOR}`);
  }
  const [encoding, decode] = found;
  const addresses = new Float64Array(names.count);
  for (let at = 0; at < addresses.length; at++) addresses[at] = decode(view.getInt32(4 * at, true), at);
  return { encoding, addresses };
}

function signed(address: bigint): number {
  return Number(BigInt.asIntN(64, address));
}
