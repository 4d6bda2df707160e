/** Words on a kernel stack that could be return addresses: what is left when a stack cannot be walked to its end. */

import type { LinuxKernel } from "../kernel/kernel.ts";
import type { LinuxPlace } from "../kernel/code_map.ts";

/** A word that lies in code. */
export interface StackWord {
  readonly stackPointer: bigint;
  readonly address: bigint;
  readonly place: LinuxPlace;
}

const WORD_BYTES = 8;

/** Lists the words from `start` to the end of the stack that lie in functions, behind their first instruction. */
export function scanKernelStack(kernel: LinuxKernel, start: bigint, maximum: number): StackWord[] {
  const first = start & ~7n;
  const end = (first | BigInt(kernel.stackBytes - 1)) + 1n;
  const { bytes } = kernel.memory.space.readUpTo(first, Number(end - first));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words: StackWord[] = [];
  for (let at = 0; at + WORD_BYTES <= bytes.length && words.length < maximum; at += WORD_BYTES) {
    const address = view.getBigUint64(at, true);
    if (kernel.code()?.isCode(address) !== true) continue;
    const place = kernel.locate(address, false);
    if (place.symbol === null || place.symbol.offset === 0) continue;
    words.push({ stackPointer: first + BigInt(at), address, place });
  }
  return words;
}
