/** Bytes of ARM64 unwind codes, as linkers write them. */

/** The code of an allocation below 32 KiB. */
export function allocation(size: number): number[] {
  return size < 512 ? [size / 16] : [0xC0 | (size / 16) >> 8, (size / 16) & 0xFF];
}

/** The three bytes of the code for a register of any number and kind. */
export function anyRegister(
  register: number,
  { pair = false, below = false }: { pair?: boolean; below?: boolean },
  kind: "x" | "d" | "q",
  units: number,
): number[] {
  return [0xE7, (Number(pair) << 6) | (Number(below) << 5) | register, ("xdq".indexOf(kind) << 6) | units];
}

/** The two bytes of a code: register from 19 on, offset in words. */
export function twoBytes(first: number, register: number, words: number): number[] {
  return [first | (register >> 2), ((register & 3) << 6) | words];
}
