/** Bug checks one of whose arguments is an address in the code to blame. From the public bug check pages. */

/** Number of the argument (1 to 4) by code. */
const CODE_ADDRESSES: ReadonlyMap<number, number> = new Map([
  [0x0A, 4],
  [0x1E, 2],
  [0x3B, 2],
  [0x50, 3],
  [0x7E, 2],
  [0x8E, 2],
  [0xC5, 4],
  [0xCC, 3],
  [0xCD, 3],
  [0xCE, 3],
  [0xCF, 3],
  [0xD0, 4],
  [0xD1, 4],
  [0xD3, 4],
  [0xD4, 4],
  [0xD5, 3],
  [0xD6, 3],
  [0x116, 2],
  [0x151, 1],
  [0x1EA, 4],
  [0x1F2, 3],
]);

/** Codes that say what happened and blame no driver, with what they say; `first` is the first argument. */
const BLAMELESS: ReadonlyMap<number, (first: bigint) => string> = new Map([
  [0x9C, () => "the processor reported an error of the machine; no driver is to blame"],
  [0x124, () => "the hardware reported an error; no driver is to blame"],
  [0x12B, () => "a page of memory is faulty; no driver is to blame"],
  [0x161, () => "the system went on running, nothing crashed"],
  [0x1C8, (first: bigint) => `the power button was held for ${first} ms; no driver is to blame`],
  [0xDEADDEAD, () => "stopped on request; no driver is to blame"],
  [0x5454414D, () => "taken by the acquisition tool DumpIt, nothing crashed"],
]);

/** Set in codes of machines without full dumps; the arguments are the same. */
const SMALL_DUMP_BIT = 0x1000_0000;

/** The code without the mark of a small dump. */
export function plainCode(code: number): number {
  return (code & ~SMALL_DUMP_BIT) >>> 0;
}

/** Number of the argument that is an address in the code to blame; null when none is. */
export function codeAddressArgument(code: number): number | null {
  return CODE_ADDRESSES.get(plainCode(code)) ?? null;
}

/** Why no driver is to blame whatever is on the stack; null when one may be. */
export function blamelessReason(code: number, first: bigint): string | null {
  return (BLAMELESS.get(code) ?? BLAMELESS.get(plainCode(code)))?.(first) ?? null;
}
