/** Images of the process that a kernel thread worked for, from the loader's list in its own memory. */

import { at } from "../../layout.ts";
import { readMappedHeaders } from "../../mapped_image.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";
import { lastPathPart, type LoadedModule, ModuleList } from "../../modules.ts";
import { hex } from "../../numbers.ts";

/** How the environment block of a thread leads to the list, and the list's entries, by the width of the program. */
const LOADER = {
  64: {
    peb: at(0x60, 8, "microsoft-documentation"),
    loader: at(0x18, 8, "microsoft-documentation"),
    list: at(0x10, 8, "kdmp-parser-rs"),
    base: at(0x30, 8, "kdmp-parser-rs"),
    sizeOfImage: at(0x40, 4, "kdmp-parser-rs"),
    fullName: at(0x48, 16, "kdmp-parser-rs"),
    timeDateStamp: at(0x80, 4, "rizin"),
  },
  32: {
    peb: at(0x30, 4, "microsoft-documentation"),
    loader: at(0x0C, 4, "microsoft-documentation"),
    list: at(0x0C, 4, "kdmp-parser-rs"),
    base: at(0x18, 4, "kdmp-parser-rs"),
    sizeOfImage: at(0x20, 4, "kdmp-parser-rs"),
    fullName: at(0x24, 8, "kdmp-parser-rs"),
    timeDateStamp: at(0x44, 4, "rekall"),
  },
} as const;

/** A 32-bit program on a 64-bit kernel has a second environment block this far behind the first. */
const SECOND_BLOCK = 0x2000n;
/** No process has as many. */
const MAXIMUM_MODULES = 4096;
const LONGEST_NAME_BYTES = 2048;

/**
 * The images that the process of a thread had loaded. `memory` shows the process's own addresses, `teb` is the
 * thread's environment block. On a 64-bit kernel the images of a 32-bit program follow those of its 64-bit part. An
 * empty list when the blocks are not in the dump; `truncated` when a list breaks off.
 */
export function readUserModules(memory: VirtualMemory, teb: bigint): ModuleList {
  const lists = memory.bits === 64
    ? [walk(memory, teb, 64), walk(memory, teb + SECOND_BLOCK, 32)]
    : [walk(memory, teb, 32)];
  const modules = new Map(lists.flatMap(({ all }) => all).map((module) => [module.base, module]));
  return new ModuleList([...modules.values()], lists.some(({ truncated }) => truncated));
}

function walk(memory: VirtualMemory, teb: bigint, width: 32 | 64): ModuleList {
  const layout = LOADER[width];
  const pointer = (address: bigint): bigint | null => {
    const value = width === 64 ? memory.u64(address) : memory.u32(address);
    return value === undefined || BigInt(value) === 0n ? null : BigInt(value);
  };
  const peb = pointer(teb + BigInt(layout.peb.offset));
  const loader = peb === null ? null : pointer(peb + BigInt(layout.loader.offset));
  if (loader === null) return new ModuleList([]);
  const head = loader + BigInt(layout.list.offset);
  const modules: LoadedModule[] = [];
  const seen = new Set<bigint>();
  for (let entry = pointer(head); entry !== head; entry = pointer(entry)) {
    if (entry === null || seen.has(entry) || seen.size >= MAXIMUM_MODULES) {
      return new ModuleList(modules, true);
    }
    seen.add(entry);
    const base = pointer(entry + BigInt(layout.base.offset));
    if (base === null) continue;
    const name = entry + BigInt(layout.fullName.offset);
    const buffer = pointer(name + BigInt(width / 8));
    const length = Math.min(memory.u16(name) ?? 0, LONGEST_NAME_BYTES);
    const path = buffer === null ? null : memory.utf16(buffer, length) || null;
    const image = readMappedHeaders(memory, base);
    modules.push({
      name: path === null ? `module at ${hex(base)}` : lastPathPart(path),
      path,
      base,
      size: image?.sizeOfImage ?? memory.u32(entry + BigInt(layout.sizeOfImage.offset)) ?? 0,
      timeDateStamp: image?.timeDateStamp ?? memory.u32(entry + BigInt(layout.timeDateStamp.offset)) ?? null,
      checkSum: image?.checkSum ?? null,
      exceptionTable: null,
      codeView: null,
      version: null,
    });
  }
  return new ModuleList(modules);
}
