/** Which function an address of code belongs to: the kernel's own or a module's. */

import type { KernelSymbols } from "./symbol_table.ts";
import type { AddressRange, KernelModule } from "./modules.ts";

/** How the kernel's own image is called beside its modules. */
export const KERNEL_IMAGE = "vmlinux";

/** A function and where in it. */
export interface LinuxFunction {
  readonly name: string;
  readonly offset: number;
  /** Null when nothing bounds it. */
  readonly size: number | null;
}

/** Where an address lies; null where it lies in nothing. */
export interface LinuxPlace {
  /** A module's name, {@link KERNEL_IMAGE}, or null. */
  readonly module: string | null;
  readonly symbol: LinuxFunction | null;
  /** Start of the module or of the kernel's image. */
  readonly base: bigint | null;
}

const NOWHERE: LinuxPlace = { module: null, symbol: null, base: null };

/** All code of one kernel. */
export class CodeMap {
  /** From the kernel's first to its last code. */
  readonly image: AddressRange;
  readonly #symbols: KernelSymbols;
  readonly #modules: readonly KernelModule[];
  readonly #code: readonly AddressRange[];

  constructor(symbols: KernelSymbols, modules: readonly KernelModule[]) {
    this.#symbols = symbols;
    this.#modules = modules;
    this.#code = [["_stext", "_etext"], ["_sinittext", "_einittext"]].flatMap(([first = "", last = ""]) => {
      const [start, end] = [symbols.addressOf(first), symbols.addressOf(last)];
      return start === null || end === null || end <= start ? [] : [{ start, size: Number(end - start) }];
    });
    const start = this.#code[0]?.start ?? 0n;
    const end = this.#code.reduce((top, range) => endOf(range) > top ? endOf(range) : top, start);
    this.image = { start, size: Number(end - start) };
  }

  isCode(address: bigint): boolean {
    return this.#code.some((range) => contains(range, address)) ||
      this.#modules.some(({ code }) => code.some((range) => contains(range, address)));
  }

  /** An address that is no exact one is a return address: its call, one byte before, tells the function. */
  locate(address: bigint, exact: boolean): LinuxPlace {
    const looked = exact ? address : address - 1n;
    for (const module of this.#modules) {
      const range = module.ranges.find((each) => contains(each, looked));
      if (range !== undefined) return locateInModule(module, range, looked, address);
    }
    if (!this.#code.some((range) => contains(range, looked))) return NOWHERE;
    const symbol = this.#symbols.at(looked);
    return {
      module: KERNEL_IMAGE,
      base: this.image.start,
      symbol: symbol === null
        ? null
        : { name: symbol.name, offset: Number(address - symbol.start), size: symbol.size },
    };
  }
}

function locateInModule(
  module: KernelModule,
  range: AddressRange,
  looked: bigint,
  address: bigint,
): LinuxPlace {
  const symbol = module.symbols()?.at(looked, range.start, endOf(range)) ?? null;
  return {
    module: module.name,
    base: module.base,
    symbol: symbol === null ? null : {
      name: symbol.name,
      offset: Number(address - symbol.start),
      size: Number(symbol.end - symbol.start),
    },
  };
}

function contains({ start, size }: AddressRange, address: bigint): boolean {
  return address >= start && address < start + BigInt(size);
}

function endOf({ start, size }: AddressRange): bigint {
  return start + BigInt(size);
}
