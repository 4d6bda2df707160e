/** How numbers of a dump are written: hexadecimal where a person compares, plain where a program counts. */

/** 32-bit value as `0x` and eight hexadecimal digits. */
export function hex32(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, "0")}`;
}

/** 64-bit value as `0x` and sixteen hexadecimal digits. */
export function hex64(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16).padStart(16, "0")}`;
}

/** A pointer-sized value in the width of its dump: 8 digits for 32 bits, 16 for 64. */
export function hexPointer(value: bigint, bits: 32 | 64): string {
  return bits === 64 ? hex64(value) : hex32(Number(BigInt.asUintN(32, value)));
}

/** Shortest hexadecimal form, for offsets and sizes in messages. */
export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A count or size for JSON: a number up to 2^53 - 1, above that hexadecimal text. */
export function jsonCount(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= 0n ? Number(value) : hex(value);
}
