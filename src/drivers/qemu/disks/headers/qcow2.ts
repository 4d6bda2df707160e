/** The header of a qcow2 file, by QEMU's docs/interop/qcow2.txt. Numbers are big-endian. */

import type { DiskHeader, HeaderReader } from "./header.ts";

/** The first four bytes of each qcow2 file: `QFI` and 0xFB. */
export const QCOW2_MAGIC = 0x514649fb;
const V2_BYTES = 72;
const V3_BYTES = 104;
const FEATURES_OFFSET = 72;
const CORRUPT = 1n << 1n;
const DATA_FILE = 1n << 2n;
const KNOWN_FEATURES = 0x1fn;
const BACKING_FORMAT = 0xe2792aca;
const DATA_FILE_NAME = 0x44415441;
const NAME_LIMIT = 1023;
/** QEMU opens no first-level table of more than 32 MiB. */
const L1_LIMIT = 4 * 1024 * 1024;
const EXTENSION_LIMIT = 64;

/** Reads the header. Throws `hv.bad_image`. */
export function readQcow2(reader: HeaderReader): DiskHeader {
  const head = reader.view(0, V2_BYTES, "qcow2 header");
  const version = head.getUint32(4);
  if (version !== 2 && version !== 3) {
    reader.refuse("unknown_version", `its qcow2 version is ${version}`, 4, "version 2 or 3");
  }
  const features = version === 3
    ? reader.view(0, V3_BYTES, "qcow2 header").getBigUint64(FEATURES_OFFSET)
    : 0n;
  if ((features & ~KNOWN_FEATURES) !== 0n) {
    reader.refuse(
      "unknown_feature",
      `it has unknown features (0x${features.toString(16)})`,
      FEATURES_OFFSET,
      "known features",
    );
  }
  const size = head.getBigUint64(24);
  checkSize(reader, head, size);
  const extensions = readExtensions(
    reader,
    version === 3 ? reader.view(100, 4, "header").getUint32(0) : V2_BYTES,
  );
  const name = readBackingName(reader, head);
  const format = extensions.get(BACKING_FORMAT);
  const dataFile = (features & DATA_FILE) === 0n ? undefined : extensions.get(DATA_FILE_NAME) ?? "unnamed";
  return {
    format: "qcow2",
    type: name === undefined ? "dynamic" : "differencing",
    size,
    ...(name === undefined ? {} : { parent: { names: [name], ...(format === undefined ? {} : { format }) } }),
    ...(head.getUint32(60) === 0 ? {} : { snapshots: head.getUint32(60) }),
    ...(head.getUint32(32) === 0 ? {} : { encrypted: true }),
    ...((features & CORRUPT) === 0n ? {} : { markedCorrupt: true }),
    ...(dataFile === undefined ? {} : { dataFile }),
  };
}

/** A size that the file's tables cannot hold is a lie, and programs have spent all memory on such. */
function checkSize(reader: HeaderReader, head: DataView, size: bigint): void {
  const clusterBits = head.getUint32(20);
  if (clusterBits < 9 || clusterBits > 21) {
    reader.refuse("bad_cluster_size", `its cluster size is 2^${clusterBits} bytes`, 20, "2^9 to 2^21");
  }
  const covered = 1n << BigInt(2 * clusterBits - 3);
  const needed = (size + covered - 1n) / covered;
  if (needed > BigInt(L1_LIMIT) || needed > BigInt(head.getUint32(36))) {
    reader.refuse(
      "impossible_size",
      `it claims ${size} bytes, which its tables cannot hold`,
      24,
      `at most ${covered * BigInt(Math.min(L1_LIMIT, head.getUint32(36)))} bytes`,
    );
  }
}

function readBackingName(reader: HeaderReader, head: DataView): string | undefined {
  const offset = head.getBigUint64(8);
  if (offset === 0n) return undefined;
  const length = head.getUint32(16);
  if (length === 0 || length > NAME_LIMIT) {
    reader.refuse(
      "bad_backing_name",
      `its backing file's name has ${length} bytes`,
      16,
      `1 to ${NAME_LIMIT}`,
    );
  }
  return textOf(reader.view(offset, length, "backing file's name"));
}

function readExtensions(reader: HeaderReader, start: number): Map<number, string> {
  const found = new Map<number, string>();
  let at = start;
  for (let count = 0; count < EXTENSION_LIMIT; count++) {
    const bytes = reader.peek(at, 8);
    if (bytes.length < 8) return found;
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    const [type, length] = [view.getUint32(0), view.getUint32(4)];
    if (type === 0) return found;
    if ((type === BACKING_FORMAT || type === DATA_FILE_NAME) && length <= NAME_LIMIT) {
      found.set(type, textOf(reader.view(at + 8, length, "header extension")));
    }
    at += 8 + Math.ceil(length / 8) * 8;
  }
  return found;
}

function textOf(view: DataView): string {
  return new TextDecoder().decode(view);
}
