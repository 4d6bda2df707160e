/** Following a disk's parents, with our own eyes: no program is let near a file before all that it names is known. */

import { toHvError } from "../../../base/errors.ts";
import { type ChainFault, type Disk, type DiskLayer, diskSize } from "../../../contract/disk.ts";
import type { Chain } from "../../disk_abilities.ts";
import type { QemuContext } from "../context.ts";
import { badDisk } from "./bad_disk.ts";
import { changeSince, readBond } from "./bonds.ts";
import type { DiskHeader, ParentClaim } from "./headers/header.ts";
import { readDiskHeader } from "./headers/read.ts";
import { findDiskFile, isNetworkName, isSystemFile, pathOfParent } from "./places.ts";

/** More layers than any use has; QEMU itself grows slow long before. */
const LAYER_LIMIT = 200;
/** QEMU's words for formats that have another name elsewhere. */
const FORMAT_OF_QEMU: ReadonlyMap<string, string> = new Map([["vpc", "vhd"]]);

/** A layer that was opened and found in order. */
export interface SoundLayer {
  path: string;
  header: DiskHeader;
}

/** A chain with what its files say, for those who work on it. */
export interface ReadChain extends Chain {
  sound: SoundLayer[];
}

/** How a chain is read. */
export interface ChainOptions {
  /** Reads the contents of parents whose state is recorded, whatever their time says. */
  thorough?: boolean;
  /** Takes a parent as it is when the first disk's merge into it did not end. */
  goesOnMerging?: boolean;
}

interface Fault {
  fault: ChainFault;
  problem: string;
}

/** Reads one disk's own header. Throws `hv.not_found`, `hv.bad_image`. */
export async function readDisk(context: QemuContext, path: string): Promise<SoundLayer> {
  const real = await findDiskFile(context, path);
  using file = context.host.files.open(real);
  return { path: real, header: readDiskHeader(file, path) };
}

/** A disk as the tools show it. */
export async function describeDisk(context: QemuContext, { path, header }: SoundLayer): Promise<Disk> {
  const facts = await context.host.files.stat(path);
  const { format, type, size, parent, snapshots, encrypted, markedCorrupt } = header;
  return {
    path,
    format,
    type: format === "raw" && isSparse(facts) ? "dynamic" : type,
    size_bytes: diskSize(size),
    file_bytes: facts?.size_bytes ?? 0,
    allocated_bytes: facts?.allocated_bytes ?? null,
    parent: parent === undefined ? null : { name: parent.names[0], format: parent.format ?? null },
    ...(snapshots === undefined ? {} : { snapshots }),
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(markedCorrupt === undefined ? {} : { marked_corrupt: markedCorrupt }),
  };
}

function isSparse(facts: { size_bytes: number; allocated_bytes: number | null } | undefined): boolean {
  return facts !== undefined && facts.allocated_bytes !== null && facts.allocated_bytes < facts.size_bytes;
}

/** Follows a disk's parents as far as they can be. */
export async function readChain(
  context: QemuContext,
  path: string,
  signal: AbortSignal,
  options: ChainOptions = {},
): Promise<ReadChain> {
  const first = await readDisk(context, path);
  const sound: SoundLayer[] = [first];
  const layers: DiskLayer[] = [layerOf(context, first)];
  const broken = (fault: Fault): ReadChain => {
    const last = layers.length - 1;
    const layer = layers[last];
    if (layer !== undefined) Object.assign(layer, fault);
    return { path: first.path, layers, sound, broken: { ...fault, layer: last } };
  };
  for (let child = first;;) {
    signal.throwIfAborted();
    const { dataFile, parent, markedCorrupt } = child.header;
    if (dataFile !== undefined) {
      return broken({ fault: "foreign_format", problem: `Its data lie in another file, "${dataFile}"` });
    }
    if (markedCorrupt) {
      return broken({ fault: "unreadable", problem: "It is marked as corrupt: look at it with disk check" });
    }
    if (parent === undefined) return { path: first.path, layers, sound };
    const found = await findParent(context, child, parent, sound);
    if ("fault" in found) {
      layers.push(unopened(found.path, parent));
      return broken(found);
    }
    layers.push(layerOf(context, found));
    const wrong = faultBetween(parent, found.header) ??
      await changeOf(context, child, found, signal, options);
    if (wrong !== undefined) return broken(wrong);
    sound.push(found);
    child = found;
  }
}

function layerOf({ host }: QemuContext, { path, header: { format, type, size } }: SoundLayer): DiskLayer {
  using file = host.files.open(path);
  return { path, format, type, size_bytes: diskSize(size), file_bytes: file.size };
}

function unopened(path: string, { format }: ParentClaim): DiskLayer {
  return { path, format: format ?? null, type: null, size_bytes: null, file_bytes: null };
}

/** Finds and reads a parent, or says what is wrong with it and with which path. */
async function findParent(
  context: QemuContext,
  child: SoundLayer,
  claim: ParentClaim,
  seen: readonly SoundLayer[],
): Promise<SoundLayer | Fault & { path: string }> {
  const { files } = context.host;
  const [named] = claim.names;
  if (isNetworkName(named)) {
    return {
      path: named,
      fault: "network",
      problem: "It is named by a protocol and not by a file's path, and is not followed",
    };
  }
  let path = pathOfParent(child.path, named);
  for (const name of claim.names) {
    const candidate = pathOfParent(child.path, name);
    if (await files.stat(candidate, { follow: true }) === undefined) continue;
    path = candidate;
    break;
  }
  const facts = await files.stat(path, { follow: true });
  if (facts === undefined) return { path, fault: "missing", problem: "There is no such file" };
  const real = await files.realPath(path);
  if (isSystemFile(real)) {
    return { path: real, fault: "system_file", problem: "It is a file of the system and is not opened" };
  }
  if (facts.kind !== "file") {
    return { path: real, fault: "not_a_file", problem: `It is a ${facts.kind} and no plain file` };
  }
  const before = seen.findIndex((layer) => layer.path === real);
  if (before >= 0) {
    return { path: real, fault: "looped", problem: `It is layer ${before} of this chain already` };
  }
  if (seen.length >= LAYER_LIMIT) {
    return { path: real, fault: "too_deep", problem: `The chain has more than ${LAYER_LIMIT} layers` };
  }
  if (claim.format === undefined) {
    const problem = "Its child does not state its format, and what it holds is not believed";
    return { path: real, fault: "untyped", problem };
  }
  try {
    return openParent(context, real, claim.format);
  } catch (error) {
    const failure = toHvError(error);
    if (failure.code === "hv.internal") throw error;
    const { reason } = failure.context;
    const isForeign = reason === "foreign_format" || reason === "not_a_disk" || reason === "packed";
    return { path: real, fault: isForeign ? "foreign_format" : "unreadable", problem: failure.message };
  }
}

/** What a child calls raw is raw, whatever it begins with: a guest may have written that. */
function openParent({ host }: QemuContext, path: string, format: string): SoundLayer {
  using file = host.files.open(path);
  if (format !== "raw") return { path, header: readDiskHeader(file, path) };
  if (file.size > 0 && file.size % 512 === 0) {
    return { path, header: { format: "raw", type: "fixed", size: BigInt(file.size) } };
  }
  throw badDisk(path, "not_a_disk", `its ${file.size} bytes are no whole number of sectors`, {
    offset: file.size,
    expected: "a multiple of 512 bytes",
  });
}

function faultBetween(claim: ParentClaim, header: DiskHeader): Fault | undefined {
  const stated = FORMAT_OF_QEMU.get(claim.format ?? "") ?? claim.format;
  if (stated !== header.format) {
    return { fault: "wrong_format", problem: `Its child calls it ${stated}, and it is ${header.format}` };
  }
  if (claim.id === undefined || claim.id === header.id) return undefined;
  const problem = `Its child was made for ${claim.id}, and it is ${header.id ?? "of no id"}`;
  return { fault: "mismatched", problem };
}

/** How a parent differs from what it was when its child was made by hvlab. */
async function changeOf(
  context: QemuContext,
  child: SoundLayer,
  parent: SoundLayer,
  signal: AbortSignal,
  options: ChainOptions,
): Promise<Fault | undefined> {
  const bond = await readBond(context, child.path);
  if (bond === undefined || bond.parent.path !== parent.path) return undefined;
  if (bond.merging) {
    if (options.goesOnMerging) return undefined;
    return { fault: "changed", problem: `A merge of "${child.path}" did not end: run disk merge again` };
  }
  const change = await changeSince(context, bond.parent, signal, options);
  if (change === undefined) return undefined;
  return { fault: "changed", problem: `It has changed since its child was made: ${change}` };
}
