/** The footer and header of a VHD, by Microsoft's "Virtual Hard Disk Image Format Specification" 1.0. Numbers are big-endian. */

import type { DiskType } from "../../../../contract/disk.ts";
import { type DiskHeader, guidAt, type HeaderReader, type ParentClaim } from "./header.ts";

const FOOTER_BYTES = 512;
const HEADER_BYTES = 1024;
const TYPES: ReadonlyMap<number, DiskType> = new Map([[2, "fixed"], [3, "dynamic"], [4, "differencing"]]);
const LOCATORS = 8;
const LOCATOR_BYTES = 24;
const NAME_LIMIT = 2048;
/** Platform codes: `W2ru`, a path from the child, and `W2ku`, a full one. */
const RELATIVE = 0x57327275;
const FULL = 0x57326b75;
/** 2 TiB is the most that the format holds. */
const SIZE_LIMIT = 2n << 40n;

/** Whether the file ends as every VHD does; only dynamic ones begin so, too. */
export function endsAsVhd(reader: HeaderReader): boolean {
  return reader.size >= FOOTER_BYTES &&
    new TextDecoder().decode(reader.peek(reader.size - FOOTER_BYTES, 8)) === "conectix";
}

/** Reads footer and header. Throws `hv.bad_image`. */
export function readVhd(reader: HeaderReader): DiskHeader {
  const at = endsAsVhd(reader) ? reader.size - FOOTER_BYTES : 0;
  const footer = reader.view(at, FOOTER_BYTES, "VHD footer");
  checkSum(reader, footer, at);
  const type = TYPES.get(footer.getUint32(60));
  if (type === undefined) {
    reader.refuse("unknown_type", `its VHD type is ${footer.getUint32(60)}`, at + 60, "2, 3 or 4");
  }
  const size = footer.getBigUint64(48);
  const hasRoom = type !== "fixed" || size <= BigInt(reader.size - FOOTER_BYTES);
  if (size > SIZE_LIMIT || !hasRoom) {
    reader.refuse(
      "impossible_size",
      `it claims ${size} bytes`,
      at + 48,
      "2 TiB at most, and all of a fixed disk",
    );
  }
  const header = { format: "vhd", type, size, id: guidAt(footer, 68) } as const;
  if (type !== "differencing") return header;
  return { ...header, parent: readParent(reader, footer.getBigUint64(16)) };
}

function checkSum(reader: HeaderReader, footer: DataView, at: number): void {
  let sum = 0;
  for (let index = 0; index < FOOTER_BYTES; index++) {
    if (index < 64 || index >= 68) sum += footer.getUint8(index);
  }
  if ((~sum >>> 0) === footer.getUint32(64)) return;
  reader.refuse("bad_checksum", "the checksum of its VHD footer is wrong", at + 64, "a sound footer");
}

function readParent(reader: HeaderReader, offset: bigint): ParentClaim {
  const header = reader.view(offset, HEADER_BYTES, "VHD header");
  const names = new Map<number, string>();
  for (let index = 0; index < LOCATORS; index++) {
    const entry = 576 + index * LOCATOR_BYTES;
    const code = header.getUint32(entry);
    const length = header.getUint32(entry + 8);
    if ((code !== RELATIVE && code !== FULL) || length === 0 || length > NAME_LIMIT) continue;
    const text = reader.view(header.getBigUint64(entry + 16), length, "VHD parent's name");
    names.set(code, new TextDecoder("utf-16le").decode(text));
  }
  const plain = new TextDecoder("utf-16be").decode(
    new DataView(header.buffer, header.byteOffset + 64, 512),
  ).replace(/\0.*$/s, "");
  const [first = "unnamed", ...others] = [names.get(RELATIVE) ?? "", names.get(FULL) ?? "", plain]
    .filter((name) => name !== "");
  return { names: [first, ...others], format: "vhd", id: guidAt(header, 40) };
}
