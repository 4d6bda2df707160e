/**
 * Epilogs of x64. An interrupted function may already have taken its frame down in part; its epilog then says what
 * is left to do: an epilog consists only of an addition to rsp (or a lea), pops, and a return or a jump out.
 */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { ImageBytes } from "../pe/image.ts";
import type { FunctionEntry } from "./function_table.ts";
import type { UnwindInfo } from "./x64_info.ts";

const RSP = 4;
const LONGEST = 48;
const MAXIMUM_POPS = 16;

/** Registers behind the epilog. */
export interface EpilogResult {
  readonly general: bigint[];
  readonly programCounter: bigint;
}

/** Carries out the rest of the epilog that `rva` lies in; null when it lies in none, or its code is not there. */
export function findEpilog(
  image: ImageBytes,
  memory: VirtualMemory,
  registers: readonly bigint[],
  info: UnwindInfo,
  entry: FunctionEntry,
  rva: number,
): EpilogResult | null {
  if (
    info.epilogBytes > 0 && !info.epilogs.some((distance) => isInside(entry.second - distance, info, rva))
  ) {
    return null;
  }
  const length = Math.min(LONGEST, entry.second - rva);
  const code = length > 0 ? image.read(rva, length) : undefined;
  return code === undefined ? null : runEpilog(code, memory, registers, info, entry, rva);
}

function isInside(begin: number, { epilogBytes }: UnwindInfo, rva: number): boolean {
  return rva >= begin && rva < begin + epilogBytes;
}

function runEpilog(
  code: Uint8Array,
  memory: VirtualMemory,
  registers: readonly bigint[],
  info: UnwindInfo,
  entry: FunctionEntry,
  rva: number,
): EpilogResult | null {
  const general = [...registers];
  const start = takeFrameDown(code, general, info);
  let at = start;
  for (let pops = 0; pops <= MAXIMUM_POPS; pops++) {
    const prefix = (code[at] ?? 0) >> 4 === 4 ? code[at] ?? 0 : 0;
    const op = code[prefix === 0 ? at : at + 1] ?? 0;
    const top = general[RSP] ?? 0n;
    if (op >= 0x58 && op <= 0x5F) {
      const value = memory.u64(top);
      if (value === undefined) return null;
      general[(op & 7) + (prefix & 1 ? 8 : 0)] = value;
      general[RSP] = top + 8n;
      at += prefix === 0 ? 1 : 2;
      continue;
    }
    if (!leaves(code, at, entry, rva)) return null;
    // A jump out of the body may be a call's tail that keeps the frame: an epilog takes something down first.
    if (at === 0 && !isReturn(code, at)) return null;
    const programCounter = memory.u64(top);
    if (programCounter === undefined) return null;
    general[RSP] = top + 8n;
    return { general, programCounter };
  }
  return null;
}

/** `add rsp, n` or `lea rsp, [frame + n]`; gives the position behind it, 0 when there is none. */
function takeFrameDown(code: Uint8Array, general: bigint[], info: UnwindInfo): number {
  const [rex = 0, op = 0, mod = 0] = code;
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  if (rex === 0x48 && op === 0x83 && mod === 0xC4 && code.length >= 4) {
    general[RSP] = (general[RSP] ?? 0n) + BigInt(view.getInt8(3));
    return 4;
  }
  if (rex === 0x48 && op === 0x81 && mod === 0xC4 && code.length >= 7) {
    general[RSP] = (general[RSP] ?? 0n) + BigInt(view.getInt32(3, true));
    return 7;
  }
  if ((rex & 0xFE) !== 0x48 || op !== 0x8D || ((mod >> 3) & 7) !== RSP || info.frameRegister === 0) return 0;
  const register = (mod & 7) + (rex & 1 ? 8 : 0);
  if (register !== info.frameRegister) return 0;
  const from = general[register] ?? 0n;
  if (mod >> 6 === 1 && code.length >= 4) {
    general[RSP] = from + BigInt(view.getInt8(3));
    return 4;
  }
  if (mod >> 6 === 2 && code.length >= 7) {
    general[RSP] = from + BigInt(view.getInt32(3, true));
    return 7;
  }
  return 0;
}

/** A return, or a jump to somewhere outside the function. */
function leaves(code: Uint8Array, at: number, entry: FunctionEntry, rva: number): boolean {
  const [first = 0, second = 0] = code.subarray(at, at + 2);
  if (isReturn(code, at)) return true;
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  const outside = (target: number): boolean => target < entry.begin || target >= entry.second;
  if (first === 0xEB && at + 2 <= code.length) return outside(rva + at + 2 + view.getInt8(at + 1));
  if (first === 0xE9 && at + 5 <= code.length) return outside(rva + at + 5 + view.getInt32(at + 1, true));
  return (first === 0xFF && second === 0x25) || (first === 0x48 && second === 0xFF);
}

function isReturn(code: Uint8Array, at: number): boolean {
  const [first = 0, second = 0] = code.subarray(at, at + 2);
  return first === 0xC3 || first === 0xC2 || (first === 0xF3 && second === 0xC3);
}
