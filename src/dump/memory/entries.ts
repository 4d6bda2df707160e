/** Page table entries that are not present: what Windows keeps in them, and where the page is then. */

import type { Absence } from "./absence.ts";

/** A 64-bit entry as two halves, so that walks need no 64-bit arithmetic. */
export interface WideEntry {
  readonly low: number;
  readonly high: number;
}

/** What an entry that is not present stands for. */
export type NotPresent =
  /** The page is still in the frame that the entry names. */
  | { readonly kind: "transition" }
  /** The real entry lies at this virtual address. */
  | { readonly kind: "prototype"; readonly address: bigint }
  | { readonly kind: "absent"; readonly absence: Absence };

const IN_TRANSITION: NotPresent = { kind: "transition" };
const PROTOTYPE = 1 << 10;
const TRANSITION = 1 << 11;
/** Bits 16 to 18 are the low bits of a prototype's address, which is a multiple of eight. */
const PROTOTYPE_LOW_BITS = 7 << 16;
const TOP_BIT = 0x8000_0000;
/** First builds whose entries keep the page file number in bits 12 to 15, and mark pages of mapped files. */
const WIDE_SOFTWARE_BUILD = 17134;
const FILE_BACKED_BUILD = 22621;

/** The frame that an entry names: bits 31:12 of its low half, and those of its high half that are in `highMask`. */
export function frameOf({ low, high }: WideEntry, highMask: number): number {
  return (high & highMask) * 0x10_0000 + (low >>> 12);
}

/**
 * Reads a 64-bit entry without its present bit; `build` decides between older and newer forms. `level` is that of
 * the table. Facts from volatility3 and MemProcFS; transition and prototype entries also seen in the real debugger.
 */
export function readNotPresent(entry: WideEntry, build: number | null, level: number): NotPresent {
  const { low, high } = entry;
  if (low === 0 && high === 0) return { kind: "absent", absence: { why: "not_mapped", level } };
  if (level > 1) return { kind: "absent", absence: { why: "not_mapped", level } };
  if (isInTransition(low)) return IN_TRANSITION;
  if ((low & PROTOTYPE) !== 0 && (low & PROTOTYPE_LOW_BITS) === 0 && (high & TOP_BIT) !== 0) {
    const address = (BigInt(high >>> 0) << 16n) | BigInt(low >>> 16);
    return { kind: "prototype", address: BigInt.asUintN(64, BigInt.asIntN(48, address)) };
  }
  if (
    (build ?? 0) >= FILE_BACKED_BUILD && (high & 0xFFFF_8000) >>> 0 === 0xFFFF_8000 && (low & 0xF) === 0
  ) {
    return { kind: "absent", absence: { why: "file_backed" } };
  }
  const file = (build ?? 0) >= WIDE_SOFTWARE_BUILD ? (low >>> 12) & 0xF : (low >>> 1) & 0xF;
  return { kind: "absent", absence: { why: "paged_out", file, offset: high >>> 0 } };
}

/** The same for the 64-bit entries of 32-bit machines, whose prototypes are told by a 32-bit address. */
export function readNotPresentPae(entry: WideEntry, level: number): NotPresent {
  const { low, high } = entry;
  if ((low === 0 && high === 0) || level > 1) {
    return { kind: "absent", absence: { why: "not_mapped", level } };
  }
  if (isInTransition(low)) return IN_TRANSITION;
  if ((low & PROTOTYPE) !== 0) return { kind: "prototype", address: BigInt(high >>> 0) };
  return {
    kind: "absent",
    absence: { why: "paged_out", file: (low >>> 1) & 0xF, offset: high >>> 0 },
  };
}

/** The same for 32-bit entries; their prototypes are packed in a way that is not read. */
export function readNotPresentNarrow(low: number, level: number): NotPresent {
  if (low === 0 || level > 1) return { kind: "absent", absence: { why: "not_mapped", level } };
  if (isInTransition(low)) return IN_TRANSITION;
  if ((low & PROTOTYPE) !== 0) return { kind: "absent", absence: { why: "unknown_entry", level } };
  return { kind: "absent", absence: { why: "paged_out", file: (low >>> 1) & 0xF, offset: low >>> 12 } };
}

function isInTransition(low: number): boolean {
  return (low & PROTOTYPE) === 0 && (low & TRANSITION) !== 0;
}
