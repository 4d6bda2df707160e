/** kdump-compressed files of makedumpfile and QEMU, plain or in the flattened envelope. Headers only. */

import { ByteReader, type ByteSource, SliceSource } from "../bytes.ts";
import { at } from "../layout.ts";
import { badDump } from "../reasons.ts";

/** First block of a kdump-compressed file. */
export const KDUMP_HEADER = {
  signature: at(0, 8, "makedumpfile"),
  version: at(8, 4, "makedumpfile"),
  sysname: at(12, 65, "makedumpfile"),
  nodename: at(77, 65, "makedumpfile"),
  release: at(142, 65, "makedumpfile"),
  kernel_version: at(207, 65, "makedumpfile"),
  machine: at(272, 65, "makedumpfile"),
  block_size: at(428, 4, "makedumpfile"),
  max_mapnr: at(440, 4, "makedumpfile"),
  nr_cpus: at(460, 4, "makedumpfile"),
} as const;

/** The envelope: a 4096-byte header, then records of offset, size (big-endian) and data. */
const FLAT_HEADER_BYTES = 4096;
const FLAT_RECORD_BYTES = 16;

/** What a kdump header says; null where a writer left it empty, as QEMU does with the names. */
export interface KdumpHeader {
  version: number;
  system: string | null;
  node: string | null;
  release: string | null;
  machine: string | null;
  blockSize: number;
  processors: number;
}

const MACHINES: ReadonlyMap<string, string> = new Map([
  ["x86_64", "x64"],
  ["aarch64", "arm64"],
  ["i686", "x86"],
]);

/** Reads the header of a file that begins with `KDUMP   ` or `DISKDUMP`; fails when it is cut. */
export function readKdumpHeader(reader: ByteReader): KdumpHeader {
  const text = (field: { offset: number; size: number }, name: string) =>
    reader.ascii(field.offset, field.size, name) || null;
  const processors = reader.i32(KDUMP_HEADER.nr_cpus.offset, "nr_cpus");
  const machine = text(KDUMP_HEADER.machine, "machine");
  return {
    version: reader.i32(KDUMP_HEADER.version.offset, "version"),
    system: text(KDUMP_HEADER.sysname, "sysname"),
    node: text(KDUMP_HEADER.nodename, "nodename"),
    release: text(KDUMP_HEADER.release, "release"),
    machine: machine === null ? null : MACHINES.get(machine) ?? machine,
    blockSize: reader.i32(KDUMP_HEADER.block_size.offset, "block_size"),
    processors,
  };
}

/**
 * Reads the header inside a flattened file. Its first record normally holds the file's first bytes; fails with
 * `hv.bad_dump` (`header_damaged`) when it does not.
 */
export function readFlattenedKdump(source: ByteSource): KdumpHeader {
  const envelope = new ByteReader(source, { what: "flattened kdump", bigEndian: true });
  const offset = envelope.u64(FLAT_HEADER_BYTES, "record offset");
  const size = envelope.u64(FLAT_HEADER_BYTES + 8, "record size");
  const start = FLAT_HEADER_BYTES + FLAT_RECORD_BYTES;
  const length = size < BigInt(source.size) ? Number(size) : source.size;
  const reader = new ByteReader(new SliceSource(source, start, length), { what: "kdump" });
  if (offset !== 0n || reader.size < 8 || reader.ascii(0, 8, "signature") !== "KDUMP   ") {
    throw badDump(
      "header_damaged",
      "Cannot read the flattened kdump: its first record does not hold the kdump header",
      { offset: FLAT_HEADER_BYTES, expected: "KDUMP" },
    );
  }
  return readKdumpHeader(reader);
}
