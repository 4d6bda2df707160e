/** Finds the ORC row of an address: tables of the kernel and of each module, sorted by address. */

import { badDump } from "../../reasons.ts";
import type { Btf } from "../kernel/btf.ts";
import type { KernelSymbols } from "../kernel/symbol_table.ts";
import type { KernelMemory } from "../kernel/kernel_memory.ts";
import type { AddressRange, KernelModule, OrcPlace } from "../kernel/modules.ts";
import { detectOrcFormat, ORC_ROW_BYTES, type OrcFormat, type OrcRow } from "./orc_format.ts";

const MOST_ROWS = 2 ** 24;
const ADDRESS_BYTES = 4;

interface Table extends OrcPlace {
  readonly range: AddressRange;
}

/** The tables of one kernel. */
export class OrcTables {
  readonly #memory: KernelMemory;
  readonly #format: OrcFormat;
  readonly #tables: readonly Table[];

  constructor(memory: KernelMemory, format: OrcFormat, tables: readonly Table[]) {
    this.#memory = memory;
    this.#format = format;
    this.#tables = tables;
  }

  /**
   * The row that holds at an address; null when no table has one. Fails with `hv.bad_dump` (`orc`, `missing_memory`)
   * for tables that are damaged or not in the dump.
   */
  rowAt(address: bigint): OrcRow | null {
    const table = this.#tables.find(({ range }) =>
      address >= range.start && address < range.start + BigInt(range.size)
    );
    if (table === undefined) return null;
    if (table.count <= 0 || table.count > MOST_ROWS) {
      throw badDump("orc", `A table of unwind data claims ${table.count} rows`, { found: table.count });
    }
    if (this.#addressOf(table, 0) > address) return null;
    let low = 0;
    let high = table.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#addressOf(table, middle) <= address) low = middle;
      else high = middle - 1;
    }
    const row = table.rows + BigInt(low * ORC_ROW_BYTES);
    return this.#format.read(this.#memory.view(row, ORC_ROW_BYTES, "a row of unwind data"));
  }

  /** Each address stands as the distance from its own place. */
  #addressOf({ addresses }: Table, index: number): bigint {
    const place = addresses + BigInt(index * ADDRESS_BYTES);
    return place + BigInt(this.#memory.i32(place, "the addresses of unwind data"));
  }
}

/** What tables are found by. */
export interface OrcSources {
  /** Null for a kernel without. */
  readonly types: Btf | null;
  readonly symbols: KernelSymbols;
  readonly modules: readonly KernelModule[];
  readonly release: string | null;
}

/** The tables of the kernel and its modules; `image` is the range of the kernel's own. */
export function openOrcTables(
  memory: KernelMemory,
  { types, symbols, modules, release }: OrcSources,
  image: AddressRange,
): OrcTables {
  const own = kernelTable(symbols);
  const tables: Table[] = own === null ? [] : [{ ...own, range: image }];
  for (const { orc, ranges } of modules) {
    if (orc !== null) tables.push(...ranges.map((range) => ({ ...orc, range })));
  }
  return new OrcTables(memory, detectOrcFormat(memory, types, symbols, release, own), tables);
}

function kernelTable(symbols: KernelSymbols): OrcPlace | null {
  const addresses = symbols.addressOf("__start_orc_unwind_ip");
  const end = symbols.addressOf("__stop_orc_unwind_ip");
  const rows = symbols.addressOf("__start_orc_unwind");
  if (addresses === null || end === null || rows === null) return null;
  return { addresses, rows, count: Number(end - addresses) / ADDRESS_BYTES };
}
