/** Words on a stack that could be return addresses: what is left when a stack cannot be walked. */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { LoadedModule, ModuleList } from "../modules.ts";
import { readPeHeaders } from "../pe/headers.ts";
import { MemoryImage } from "../pe/image.ts";

/** A word that lies in an image. */
export interface ScannedWord {
  /** Where it lies. */
  readonly stackPointer: bigint;
  readonly address: bigint;
  readonly module: LoadedModule;
}

/** Bytes that are looked at. */
const SCANNED_BYTES = 64 * 1024;

/**
 * Lists the words from `start` up to `end` that lie in images, at most `maximum`: in sections that hold code, where the
 * dump has the headers that tell, else anywhere behind the headers. None of them
 * is known to be a frame: locals and what earlier calls left behind look the same.
 */
export function scanStack(
  memory: VirtualMemory,
  modules: ModuleList,
  start: bigint,
  end: bigint | null,
  maximum: number,
): ScannedWord[] {
  const width = memory.bits / 8;
  const first = start - (start % BigInt(width));
  const room = end === null || end <= first ? SCANNED_BYTES : Math.min(SCANNED_BYTES, Number(end - first));
  const { bytes } = memory.readUpTo(first, room);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codeOf = new Map<LoadedModule, ((rva: number) => boolean) | null>();
  const isCode = (module: LoadedModule, rva: number): boolean => {
    let code = codeOf.get(module);
    if (code === undefined) codeOf.set(module, code = codeTest(memory, module));
    return code?.(rva) ?? true;
  };
  const found: ScannedWord[] = [];
  for (let at = 0; at + width <= bytes.length && found.length < maximum; at += width) {
    const address = width === 8 ? view.getBigUint64(at, true) : BigInt(view.getUint32(at, true));
    const module = address === 0n ? null : modules.at(address);
    if (module === null || address - module.base < HEADER_BYTES) continue;
    if (!isCode(module, Number(address - module.base))) continue;
    found.push({ stackPointer: first + BigInt(at), address, module });
  }
  return found;
}

/** No code lies in an image's header page. */
const HEADER_BYTES = 0x1000n;

/** Whether an address lies in code, by the image's headers; null when they are not in the dump. */
function codeTest(memory: VirtualMemory, module: LoadedModule): ((rva: number) => boolean) | null {
  const sections = readPeHeaders(new MemoryImage(memory, module.base))?.sections ?? [];
  const code = sections.filter(({ executable }) => executable);
  if (code.length === 0) return null;
  return (rva) => code.some((each) => rva >= each.rva && rva - each.rva < each.virtualSize);
}
