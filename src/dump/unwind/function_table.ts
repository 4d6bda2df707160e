/** Finds the entry of a function in an image's table of functions. */

import { viewOf } from "../pe/image.ts";
import type { UnwindImage } from "./frame.ts";

/** Bytes of an entry by processor: begin, end and unwind data on x64; begin and a packed word on ARM64. */
export const ENTRY_BYTES = { x64: 12, arm64: 8 } as const;

/** An entry with its two words behind the function's begin; ARM64 has only one. */
export interface FunctionEntry {
  readonly begin: number;
  readonly second: number;
  readonly third: number;
}

/** The answer: an entry, `leaf` when the table has none for the address, `unknown` when the table cannot be read. */
export type FunctionLookup = FunctionEntry | "leaf" | "unknown";

/** Reads one entry. */
export function parseEntry(bytes: Uint8Array): FunctionEntry {
  const view = viewOf(bytes);
  return {
    begin: view.getUint32(0, true),
    second: view.getUint32(4, true),
    third: bytes.length >= 12 ? view.getUint32(8, true) : 0,
  };
}

/** The last entry that begins at or before `rva`, by binary search; on x64 only when it also ends behind it. */
export function findFunction(image: UnwindImage, machine: "x64" | "arm64", rva: number): FunctionLookup {
  const { functions, bytes } = image;
  if (functions === "none") return "leaf";
  if (functions !== null) {
    const width = ENTRY_BYTES[machine];
    let low = 0;
    let high = Math.floor(Math.min(functions.size, image.size) / width);
    let found: FunctionEntry | null = null;
    let complete = true;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const raw = bytes.read(functions.rva + middle * width, width);
      if (raw === undefined) {
        complete = false;
        break;
      }
      const entry = parseEntry(raw);
      if (entry.begin <= rva) {
        found = entry;
        low = middle + 1;
      } else high = middle;
    }
    if (complete) {
      if (found === null || (machine === "x64" && rva >= found.second)) return "leaf";
      return found;
    }
  }
  for (const raw of image.spare.values()) {
    const entry = parseEntry(raw);
    if (machine === "x64" && rva >= entry.begin && rva < entry.second) return entry;
  }
  return "unknown";
}
