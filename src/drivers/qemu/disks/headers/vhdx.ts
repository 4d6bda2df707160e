/** The headers and metadata of a VHDX, by Microsoft's MS-VHDX. Numbers are little-endian. */

import { type DiskHeader, guidAt, type HeaderReader, type ParentClaim } from "./header.ts";

const KIB = 1024;
const HEADERS = [64 * KIB, 128 * KIB] as const;
const REGIONS = [192 * KIB, 256 * KIB] as const;
const REGION_LIMIT = 2047;
const ENTRY_BYTES = 32;
const METADATA_BYTES = 64 * KIB;
const ITEM_LIMIT = 64 * KIB;
const HEAD = 0x64616568;
const REGI = 0x69676572;
const METADATA_REGION = "8b7ca206-4790-4b9a-b8fe-575f050f886e";
const PARAMETERS = "caa16737-fa36-4d43-b3b6-33f0aa44e76b";
const SIZE = "2fa54224-cd1b-4876-b211-5dbed83bf4b8";
const LOCATOR = "a8d35f2d-b30b-454d-abf7-d3d84834ab0c";
const FIXED = 1;
const HAS_PARENT = 2;
/** 64 TiB is the most that the format holds. */
const SIZE_LIMIT = 64n << 40n;

/** Reads what a VHDX says of itself. Throws `hv.bad_image`. */
export function readVhdx(reader: HeaderReader): DiskHeader {
  const items = readMetadata(reader, findMetadata(reader));
  const parameters = items.get(PARAMETERS);
  const size = items.get(SIZE)?.getBigUint64(0, true);
  if (parameters === undefined || size === undefined || parameters.byteLength < 8) {
    reader.refuse("no_metadata", "its metadata lacks the disk's size or kind", 0, "a VHDX's metadata");
  }
  if (size > SIZE_LIMIT) reader.refuse("impossible_size", `it claims ${size} bytes`, 0, "64 TiB at most");
  const flags = parameters.getUint32(4, true);
  const header = { format: "vhdx", size, id: readIdentity(reader) } as const;
  if ((flags & HAS_PARENT) === 0) return { ...header, type: (flags & FIXED) === 0 ? "dynamic" : "fixed" };
  return { ...header, type: "differencing", parent: readParent(reader, items.get(LOCATOR)) };
}

/** The id that changes with each first write; children are bound to their parent's. Of two headers the newer counts. */
function readIdentity(reader: HeaderReader): string {
  const found = HEADERS.map((offset) => reader.view(offset, 64, "VHDX header"))
    .filter((header) => header.getUint32(0, true) === HEAD)
    .sort((one, other) => one.getBigUint64(8, true) < other.getBigUint64(8, true) ? 1 : -1);
  const [current] = found;
  if (current === undefined) reader.refuse("no_header", "it has no VHDX header", HEADERS[0], '"head"');
  return guidAt(current, 32);
}

function findMetadata(reader: HeaderReader): number {
  for (const offset of REGIONS) {
    const table = reader.view(offset, 16, "VHDX region table");
    const count = table.getUint32(8, true);
    if (table.getUint32(0, true) !== REGI || count > REGION_LIMIT) continue;
    const entries = reader.view(offset + 16, count * ENTRY_BYTES, "VHDX region table");
    for (let index = 0; index < count; index++) {
      const entry = index * ENTRY_BYTES;
      if (guidAt(entries, entry) === METADATA_REGION) return Number(entries.getBigUint64(entry + 16, true));
    }
  }
  return reader.refuse("no_metadata", "it names no metadata", REGIONS[0], "a region of metadata");
}

function readMetadata(reader: HeaderReader, region: number): Map<string, DataView> {
  const table = reader.view(region, METADATA_BYTES, "VHDX metadata");
  const count = Math.min(table.getUint16(10, true), METADATA_BYTES / ENTRY_BYTES - 1);
  const items = new Map<string, DataView>();
  for (let index = 1; index <= count; index++) {
    const entry = index * ENTRY_BYTES;
    const [offset, length] = [table.getUint32(entry + 16, true), table.getUint32(entry + 20, true)];
    if (length > ITEM_LIMIT) {
      reader.refuse("bad_metadata", `an item has ${length} bytes`, region + entry, "less");
    }
    items.set(guidAt(table, entry), reader.view(region + offset, length, "VHDX metadata"));
  }
  return items;
}

function readParent(reader: HeaderReader, locator: DataView | undefined): ParentClaim {
  const entries = locator === undefined ? new Map<string, string>() : readLocator(reader, locator);
  const [first = "unnamed", ...others] = ["relative_path", "absolute_win32_path", "volume_path"]
    .flatMap((key) => entries.get(key) ?? []);
  const id = entries.get("parent_linkage")?.replace(/[{}]/g, "").toLowerCase();
  return { names: [first, ...others], format: "vhdx", ...(id === undefined ? {} : { id }) };
}

function readLocator(reader: HeaderReader, locator: DataView): Map<string, string> {
  const found = new Map<string, string>();
  const text = (offset: number, length: number): string => {
    if (offset + length > locator.byteLength) {
      reader.refuse("bad_metadata", "a text of its parent locator lies outside", 0, "a parent locator");
    }
    return new TextDecoder("utf-16le").decode(
      new DataView(locator.buffer, locator.byteOffset + offset, length),
    );
  };
  const count = locator.byteLength < 20 ? 0 : locator.getUint16(18, true);
  for (let index = 0; index < count && 20 + (index + 1) * 12 <= locator.byteLength; index++) {
    const entry = 20 + index * 12;
    const key = text(locator.getUint32(entry, true), locator.getUint16(entry + 8, true));
    found.set(key, text(locator.getUint32(entry + 4, true), locator.getUint16(entry + 10, true)));
  }
  return found;
}
