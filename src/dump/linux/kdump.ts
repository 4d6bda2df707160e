/** kdump-compressed files of makedumpfile and QEMU, plain or in the flattened envelope. Headers only. */

import { ByteReader, type ByteSource } from "../bytes.ts";
import { at } from "../layout.ts";
import { badDump } from "../reasons.ts";
import { openFlattened } from "./containers/flattened.ts";
import { readIdentity } from "./elf.ts";

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

/** The block behind the header, from version 3 on. */
const KDUMP_SECOND_HEADER = {
  size: 64,
  offset_vmcoreinfo: at(32, 8, "makedumpfile"),
  size_vmcoreinfo: at(40, 8, "makedumpfile"),
} as const;
/** A header block of other sizes is no header. */
const BLOCK_BYTES = { from: 4096, to: 65_536 } as const;
const VMCOREINFO_VERSION = 3;
const MAXIMUM_VMCOREINFO_BYTES = 16_384;
/** The headers lie in the first records; all of them would be the whole file. */
const HEADER_RECORDS = 32;

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

/** What QEMU calls every machine but x86-64. */
const NAMELESS = "Unknown";
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
    machine: machine === null || machine === NAMELESS ? null : MACHINES.get(machine) ?? machine,
    blockSize: reader.i32(KDUMP_HEADER.block_size.offset, "block_size"),
    processors,
  };
}

/**
 * What VMCOREINFO, which the second header leads to, says of the kernel; null when the file is of an older version or
 * does not hold it.
 */
export function readKdumpIdentity(reader: ByteReader): ReturnType<typeof readIdentity> | null {
  const second = reader.i32(KDUMP_HEADER.block_size.offset, "block_size");
  if (second < BLOCK_BYTES.from || second > BLOCK_BYTES.to) return null;
  const at = (field: { offset: number }) => Number(reader.u64(second + field.offset, "VMCOREINFO"));
  const version = reader.i32(KDUMP_HEADER.version.offset, "version");
  if (version < VMCOREINFO_VERSION || !reader.has(second, KDUMP_SECOND_HEADER.size)) return null;
  const offset = at(KDUMP_SECOND_HEADER.offset_vmcoreinfo);
  const size = Math.min(at(KDUMP_SECOND_HEADER.size_vmcoreinfo), MAXIMUM_VMCOREINFO_BYTES);
  if (offset === 0 || size === 0 || !reader.has(offset, size)) return null;
  return readIdentity(new TextDecoder("latin1").decode(reader.bytes(offset, size, "VMCOREINFO")));
}

/**
 * Reads the headers inside a flattened file out of its first records. Fails with `hv.bad_dump` (`header_damaged`) when
 * they do not hold the beginning of the file.
 */
export function readFlattenedKdump(
  source: ByteSource,
): { header: KdumpHeader; identity: ReturnType<typeof readIdentity> | null } {
  const file = openFlattened(source, HEADER_RECORDS);
  const reader = new ByteReader(file, { what: "kdump" });
  if (reader.size < 8 || reader.ascii(0, 8, "signature") !== "KDUMP   ") {
    throw badDump(
      "header_damaged",
      "Cannot read the flattened kdump: its first records do not hold the kdump header",
      { expected: "KDUMP" },
    );
  }
  return { header: readKdumpHeader(reader), identity: readKdumpIdentity(reader) };
}
