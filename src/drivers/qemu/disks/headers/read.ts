/** Which format a file has, by its contents and never by its name, and what its header says. */

import type { RandomAccessFile } from "../../../../host/files.ts";
import { badDisk } from "../bad_disk.ts";
import { type DiskHeader, HeaderReader } from "./header.ts";
import { readQcow2 } from "./qcow2.ts";
import { endsAsVhd, readVhd } from "./vhd.ts";
import { readVhdx } from "./vhdx.ts";
import { readVmdk } from "./vmdk.ts";

const SECTOR = 512;

/** Marks of other formats: bytes as Latin-1 text at an offset; `format` is QEMU's own word. */
const FOREIGN: readonly { name: string; format: string; offset: number; mark: string }[] = [
  { name: "VirtualBox disk (VDI)", format: "vdi", offset: 64, mark: "\x7f\x10\xda\xbe" },
  { name: "QED disk", format: "qed", offset: 0, mark: "QED\0" },
  { name: "Parallels disk", format: "parallels", offset: 0, mark: "WithoutFreeSpace" },
  { name: "Parallels disk", format: "parallels", offset: 0, mark: "WithouFreSpacExt" },
];

const PACKED: readonly { name: string; mark: string }[] = [
  { name: "gzip", mark: "\x1f\x8b\x08" },
  { name: "xz", mark: "\xfd7zXZ\0" },
  { name: "zstd", mark: "\x28\xb5\x2f\xfd" },
  { name: "bzip2", mark: "BZh" },
  { name: "zip", mark: "PK\x03\x04" },
];

/** Reads a disk's header. Throws `hv.bad_image` for what is none, or for one that lies. */
export function readDiskHeader(file: RandomAccessFile, path: string): DiskHeader {
  const reader = new HeaderReader(file, path);
  const start = String.fromCharCode(...reader.peek(0, SECTOR));
  if (start.startsWith("QFI\xfb")) return readQcow2(reader);
  if (start.startsWith("vhdxfile")) return readVhdx(reader);
  if (start.startsWith("KDMV")) return readVmdk(reader);
  if (start.startsWith("conectix") || endsAsVhd(reader)) return readVhd(reader);
  refuseForeign(path, start);
  if (file.size === 0) throw badDisk(path, "empty", "the file is empty", { expected: "a disk" });
  if (file.size % SECTOR !== 0) {
    throw badDisk(path, "not_a_disk", `its ${file.size} bytes are no whole number of sectors`, {
      offset: file.size,
      expected: `a known format, or a multiple of ${SECTOR} bytes`,
    });
  }
  return { format: "raw", type: "fixed", size: BigInt(file.size) };
}

function refuseForeign(path: string, start: string): void {
  if (start.startsWith("# Disk DescriptorFile") || start.startsWith("COWD")) {
    throw badDisk(path, "foreign_format", "it is a VMDK whose data lie in other files", {
      expected: "a disk in one file",
      hint: "Convert it first: qemu-img convert -f vmdk -O qcow2 FILE NEW.qcow2",
    });
  }
  const foreign = FOREIGN.find(({ offset, mark }) => start.startsWith(mark, offset));
  if (foreign !== undefined) {
    const expected = "qcow2, raw, VHDX, VHD or VMDK";
    throw badDisk(path, "foreign_format", `it is a ${foreign.name}`, {
      expected,
      hint: `Convert it first: qemu-img convert -f ${foreign.format} -O qcow2 FILE NEW.qcow2`,
    });
  }
  const packed = PACKED.find(({ mark }) => start.startsWith(mark));
  if (packed !== undefined) {
    throw badDisk(path, "packed", `it is packed with ${packed.name}`, {
      expected: "a disk",
      hint: "Unpack it first",
    });
  }
}
