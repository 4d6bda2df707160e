/** A VMDK in one file: the header of its sparse extent and the text that describes it, by VMware's "Virtual Disk Format 5.0". */

import type { DiskHeader, HeaderReader } from "./header.ts";

const SECTOR = 512;
const HEADER_BYTES = 79;
const DESCRIPTOR_LIMIT = 64 * 1024;
/** The id that says "no parent". */
const NO_PARENT = "ffffffff";
/** 64 TiB is more than VMware makes. */
const SIZE_LIMIT = 64n << 40n;

/** Reads header and description. Throws `hv.bad_image`. */
export function readVmdk(reader: HeaderReader): DiskHeader {
  const head = reader.view(0, HEADER_BYTES, "VMDK header");
  const size = head.getBigUint64(12, true) * BigInt(SECTOR);
  if (size > SIZE_LIMIT) reader.refuse("impossible_size", `it claims ${size} bytes`, 12, "64 TiB at most");
  const length = head.getBigUint64(36, true) * BigInt(SECTOR);
  if (length === 0n || length > BigInt(DESCRIPTOR_LIMIT)) {
    reader.refuse("no_descriptor", `its description has ${length} bytes`, 36, `1 to ${DESCRIPTOR_LIMIT}`);
  }
  const start = head.getBigUint64(28, true) * BigInt(SECTOR);
  const text = new TextDecoder().decode(reader.view(start, Number(length), "VMDK description"))
    .replace(/\0.*$/s, "");
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}\\s*=\\s*"?([^"\\r\\n]*)"?\\s*$`, "m").exec(text)?.[1];
  const id = field("CID")?.toLowerCase();
  const parentId = field("parentCID")?.toLowerCase() ?? NO_PARENT;
  return {
    format: "vmdk",
    type: parentId === NO_PARENT ? "dynamic" : "differencing",
    size,
    ...(id === undefined ? {} : { id }),
    ...(parentId === NO_PARENT ? {} : {
      parent: { names: [field("parentFileNameHint") ?? "unnamed"], format: "vmdk", id: parentId },
    }),
  };
}
