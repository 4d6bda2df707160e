/**
 * Finds what a kernel has no names for. One that was built without CONFIG_KALLSYMS_ALL names its functions only; its
 * types, its first task and its list of modules are found by what they hold.
 */

import type { Btf } from "./btf.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import type { AddressRange } from "./modules.ts";

const PAGE_BYTES = 4096n;
const WORD_BYTES = 8;
/** No image has more between two of its parts. */
const SEARCHED_BYTES = 32n * 1024n * 1024n;

/** The first word of types: a magic number, version 1, no flags. */
const TYPES_WORD = 0x0001_EB9F;
const TYPES_HEADER = { bytes: 24, length: 4, typesAt: 8, types: 12, stringsAt: 16, strings: 20 } as const;
/** Modules have types of their own, which are small. */
const FEWEST_TYPE_BYTES = 65_536;
const MOST_TYPE_BYTES = 64 * 1024 * 1024;

/** Where the kernel's own types lie, from an address of its read-only data on; null when they are not there. */
export function searchTypes(memory: KernelMemory, start: bigint): AddressRange | null {
  for (const { address, view } of pagesOf(memory, start, start + SEARCHED_BYTES)) {
    for (let at = 0; at < view.byteLength; at += 4) {
      if (view.getUint32(at, true) !== TYPES_WORD) continue;
      const place = address + BigInt(at);
      const size = lengthOfTypes(memory, place);
      if (size !== null) return { start: place, size };
    }
  }
  return null;
}

/** Bytes of the types that begin at an address; null when none do. */
function lengthOfTypes(memory: KernelMemory, address: bigint): number | null {
  const bytes = memory.space.read(address, TYPES_HEADER.bytes);
  if (bytes === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const field = (offset: number) => view.getUint32(offset, true);
  const types = field(TYPES_HEADER.types);
  const stringsAt = field(TYPES_HEADER.stringsAt);
  const length = TYPES_HEADER.bytes + stringsAt + field(TYPES_HEADER.strings);
  const fits = field(TYPES_HEADER.length) === TYPES_HEADER.bytes && field(TYPES_HEADER.typesAt) === 0 &&
    types >= FEWEST_TYPE_BYTES && stringsAt >= types && length <= MOST_TYPE_BYTES;
  return fits ? length : null;
}

/** What the kernel's data was searched for; null for what is not there. */
export interface NamelessData {
  readonly initTask: bigint | null;
  /** Head of the list of modules; not told from other lists while it is empty. */
  readonly modules: bigint | null;
}

const FIRST_TASK = Array.from("swapper", (character) => character.charCodeAt(0));
/** Modules lie so near to the image that its code can call theirs. */
const NEAREST_MODULES = 2n ** 32n;
const MODULE_NAME = /^[\w.-]{1,55}$/;

/** Searches the image's data between two addresses. */
export function searchData(memory: KernelMemory, types: Btf, start: bigint, end: bigint): NamelessData {
  let initTask: bigint | null = null;
  let modules: bigint | null = null;
  const limit = end - start > SEARCHED_BYTES ? start + SEARCHED_BYTES : end;
  for (const { address, view } of pagesOf(memory, start, limit)) {
    initTask ??= firstTaskIn(memory, types, address, view);
    modules ??= modulesIn(memory, types, address, view, { start, end });
    if (initTask !== null && modules !== null) break;
  }
  return { initTask, modules };
}

function firstTaskIn(memory: KernelMemory, types: Btf, address: bigint, view: DataView): bigint | null {
  const name = BigInt(types.offset("task_struct.comm"));
  const pid = BigInt(types.offset("task_struct.pid"));
  const tasks = BigInt(types.offset("task_struct.tasks"));
  for (let at = 0; at + FIRST_TASK.length <= view.byteLength; at++) {
    if (!FIRST_TASK.every((byte, index) => view.getUint8(at + index) === byte)) continue;
    const task = address + BigInt(at) - name;
    const next = memory.space.u64(task + tasks);
    const isFirst = memory.space.u32(task + pid) === 0 && next !== undefined &&
      memory.space.u64(next + BigInt(WORD_BYTES)) === task + tasks;
    if (isFirst) return task;
  }
  return null;
}

/** A word of the data that leads to a module whose list leads back to the word. */
function modulesIn(
  memory: KernelMemory,
  types: Btf,
  address: bigint,
  view: DataView,
  image: { readonly start: bigint; readonly end: bigint },
): bigint | null {
  const list = BigInt(types.offset("module.list"));
  const name = BigInt(types.offset("module.name"));
  const itself = BigInt(types.offset("module.mkobj.mod"));
  for (let at = 0; at + WORD_BYTES <= view.byteLength; at += WORD_BYTES) {
    const node = view.getBigUint64(at, true);
    const isNear = node > image.start - NEAREST_MODULES && node < image.end + NEAREST_MODULES;
    if (!isNear || node >= image.start && node < image.end) continue;
    const head = address + BigInt(at);
    const module = node - list;
    const isModule = memory.space.u64(node + BigInt(WORD_BYTES)) === head &&
      memory.space.u64(module + itself) === module &&
      MODULE_NAME.test(memory.space.ascii(module + name, 64) ?? "");
    if (isModule) return head;
  }
  return null;
}

/** The pages that are there between two addresses, in order. */
function* pagesOf(
  memory: KernelMemory,
  start: bigint,
  end: bigint,
): Iterable<{ address: bigint; view: DataView }> {
  for (let address = start & -PAGE_BYTES; address < end; address += PAGE_BYTES) {
    const bytes = memory.space.read(address, Number(PAGE_BYTES));
    if (bytes === undefined) continue;
    yield { address, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  }
}
