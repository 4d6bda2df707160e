/** Empties a kernel's table of symbols of the names and addresses that nobody asks for. Its shape stays as it is. */

import type { LinuxKernel } from "../../../src/dump/linux/kernel/kernel.ts";
import type { Uses } from "./record_uses.ts";

/** A letter that stands for a token in every table. */
const FILLER = "t".charCodeAt(0);
const TOKENS = 256;

/** Writes bytes into the kernel's memory. */
export type Store = (address: bigint, bytes: Uint8Array) => void;

/** Overwrites names by fillers, and addresses by that of the symbol before, where neither is of use. */
export function emptySymbols(kernel: LinuxKernel, { symbols }: Uses, store: Store): void {
  const { memory, info } = kernel;
  const table = (name: string): bigint => {
    const address = info.symbol(`kallsyms_${name}`);
    if (address === null) throw new Error(`VMCOREINFO does not name kallsyms_${name}`);
    return address;
  };
  const count = memory.u32(table("num_syms"), "symbols");
  const index = memory.view(table("token_index"), 2 * TOKENS, "tokens");
  const tokens = Array.from(
    { length: TOKENS },
    (_, token) =>
      memory.rawText(table("token_table") + BigInt(index.getUint16(2 * token, true)), 64, "tokens"),
  );
  const { bytes: packed } = memory.space.readUpTo(table("names"), 48 * 1024 * 1024);
  const names = packed.slice();
  const kept: boolean[] = [];
  let at = 0;
  for (let symbol = 0; symbol < count; symbol++) {
    let length = names[at++] ?? 0;
    if (length >= 0x80) length = (length & 0x7F) | ((names[at++] ?? 0) << 7);
    const codes = Array.from(names.subarray(at, at + length));
    kept.push(symbols.has(codes.map((code) => tokens[code]).join("").slice(1)));
    if (kept[symbol] === false) names.fill(FILLER, at, at + length);
    at += length;
  }
  store(table("names"), names.subarray(0, at));
  const offsets = memory.bytes(table("offsets"), 4 * count, "addresses").slice();
  store(table("offsets"), onlyKept(offsets, kept));
}

/** The symbol behind a kept one says where that ends, and keeps its address as well. */
function onlyKept(offsets: Uint8Array, kept: readonly boolean[]): Uint8Array {
  const view = new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  let last = 0;
  let wanted: number | null = null;
  for (const [symbol, isKept] of kept.entries()) {
    const value = view.getUint32(4 * symbol, true);
    const ends = wanted !== null && value !== wanted;
    if (isKept || ends) last = value;
    if (isKept) wanted = value;
    else if (ends) wanted = null;
    view.setUint32(4 * symbol, last, true);
  }
  return offsets;
}
