/** Symbols of one module: the ELF table that the kernel keeps of it. */

import { at } from "../../layout.ts";
import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";
import type { Btf } from "./btf.ts";
import type { KernelMemory } from "./kernel_memory.ts";

const ELF_SYMBOL = {
  name: at(0, 4, "elf-specification"),
  section: at(6, 2, "elf-specification"),
  value: at(8, 8, "elf-specification"),
} as const;
const SYMBOL_BYTES = 24;
const MOST_SYMBOLS = 2 ** 20;
const LONGEST_NAME = 256;

interface ModuleSymbol {
  readonly address: bigint;
  readonly name: bigint;
}

/** Symbols by address. Names are read when they are needed. */
export class ModuleSymbols {
  readonly #memory: KernelMemory;
  /** Ascending by address; equal addresses in the order of the table. */
  readonly #symbols: readonly ModuleSymbol[];

  constructor(memory: KernelMemory, symbols: readonly ModuleSymbol[]) {
    this.#memory = memory;
    this.#symbols = symbols;
  }

  /**
   * The last symbol at or below an address and not below `floor`, and where the next one begins; `end` when none
   * does before.
   */
  at(address: bigint, floor: bigint, end: bigint): { name: string; start: bigint; end: bigint } | null {
    let low = 0;
    let high = this.#symbols.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#symbols[middle]?.address ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    const next = this.#symbols[low]?.address ?? end;
    for (let index = low - 1; index >= 0; index--) {
      const symbol = this.#symbols[index];
      if (symbol === undefined || symbol.address < floor) return null;
      const before = this.#symbols[index - 1];
      const name = this.#nameOf(symbol);
      if (name === "" || before?.address === symbol.address && this.#nameOf(before) !== "") continue;
      return { name, start: symbol.address, end: next < end ? next : end };
    }
    return null;
  }

  /** Empty for names that mark no place of code or data. */
  #nameOf({ name }: ModuleSymbol): string {
    if (!this.#memory.space.has(name)) return "";
    const text = this.#memory.rawText(name, LONGEST_NAME, "the name of a module's symbol");
    return text.startsWith("$") ? "" : fieldText(text);
  }
}

/** Reads the table that `pointer` leads to. Fails with `hv.bad_dump` (`missing_memory`, `kallsyms`). */
export function readModuleSymbols(
  memory: KernelMemory,
  btf: Btf,
  pointer: bigint,
  module: string,
): ModuleSymbols {
  const table = memory.u64(pointer, `symbols of ${module}`);
  const field = (name: string) => table + BigInt(btf.offset(`mod_kallsyms.${name}`));
  const count = memory.u32(field("num_symtab"), `symbols of ${module}`);
  if (count > MOST_SYMBOLS) throw badDump("kallsyms", `The module ${module} claims ${count} symbols`);
  const strings = memory.u64(field("strtab"), `symbols of ${module}`);
  const entries = memory.u64(field("symtab"), `symbols of ${module}`);
  const view = memory.view(entries, count * SYMBOL_BYTES, `symbols of ${module}`);
  const symbols: ModuleSymbol[] = [];
  for (let index = 0; index < count; index++) {
    const entry = index * SYMBOL_BYTES;
    const address = view.getBigUint64(entry + ELF_SYMBOL.value.offset, true);
    if (view.getUint16(entry + ELF_SYMBOL.section.offset, true) === 0 || address === 0n) continue;
    symbols.push({ address, name: strings + BigInt(view.getUint32(entry + ELF_SYMBOL.name.offset, true)) });
  }
  return new ModuleSymbols(
    memory,
    symbols.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)),
  );
}
