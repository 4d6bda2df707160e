/** The internal snapshots of a qcow2 file, read off the file itself: no program is started and no lock is needed. */

import { HvError } from "../../../base/errors.ts";
import type { Files, RandomAccessFile } from "../../../host/files.ts";
import { QCOW2_MAGIC } from "../disks/headers/qcow2.ts";

/** One internal snapshot. */
export interface DiskSnapshot {
  tag: string;
  /** The bytes of machine state that it holds; 0 for one of a disk alone. */
  memory_bytes: number;
}

/*
 * QEMU's docs/interop/qcow2.txt, all numbers big-endian. Header: 0 magic, 60 number of snapshots (4 bytes),
 * 64 offset of their table (8). QEMU writes a new table elsewhere before it changes these twelve bytes, so a file in
 * use reads either old or new.
 */
const HEADER_BYTES = 72;
const COUNT_AT = 60;
const TABLE_AT = 64;
/** QEMU's own limit. */
const SNAPSHOT_LIMIT = 65_536;
/** An entry: 12 length of id (2), 14 length of name (2), 32 state size (4), 36 size of extra data (4); then extra data, id, name. */
const ENTRY_BYTES = 40;
/** The first extra field is the state size with 8 bytes. */
const WIDE_SIZE_BYTES = 8;

/**
 * The snapshots of a qcow2 file, oldest first; `undefined` when there is no such file. Throws `hv.bad_image` when
 * the file is no qcow2 or its table is broken.
 */
export async function readSnapshots(files: Files, path: string): Promise<DiskSnapshot[] | undefined> {
  if (await files.stat(path, { follow: true }) === undefined) return undefined;
  using file = files.open(path);
  const header = view(file, path, 0, HEADER_BYTES);
  if (header.getUint32(0) !== QCOW2_MAGIC) throw broken(path, 0, "it does not begin like a qcow2 file");
  const count = header.getUint32(COUNT_AT);
  if (count > SNAPSHOT_LIMIT) throw broken(path, COUNT_AT, `it claims ${count} snapshots`);
  let at = Number(header.getBigUint64(TABLE_AT));
  const found: DiskSnapshot[] = [];
  for (let index = 0; index < count; index++) {
    const fixed = view(file, path, at, ENTRY_BYTES);
    const idLength = fixed.getUint16(12);
    const nameLength = fixed.getUint16(14);
    const extraLength = fixed.getUint32(36);
    if (extraLength > 1024) throw broken(path, at + 36, `a snapshot has ${extraLength} bytes of extra data`);
    const extra = view(file, path, at + ENTRY_BYTES, extraLength);
    const name = view(file, path, at + ENTRY_BYTES + extraLength + idLength, nameLength);
    const wide = extraLength >= WIDE_SIZE_BYTES;
    found.push({
      tag: new TextDecoder().decode(name),
      memory_bytes: wide ? Number(extra.getBigUint64(0)) : fixed.getUint32(32),
    });
    at += Math.ceil((ENTRY_BYTES + extraLength + idLength + nameLength) / 8) * 8;
  }
  return found;
}

function view(file: RandomAccessFile, path: string, offset: number, length: number): DataView {
  const bytes = file.read(offset, length);
  if (bytes.length === length) return new DataView(bytes.buffer, bytes.byteOffset, length);
  throw broken(path, offset + bytes.length, "it ends there");
}

function broken(path: string, offset: number, what: string): HvError {
  return new HvError("hv.bad_image", `Cannot read the snapshots of "${path}" at offset ${offset}: ${what}`, {
    hint: "Check the file with: hvlab disk check",
    context: { path, offset, reason: "snapshot_table" },
  });
}
