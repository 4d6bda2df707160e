/** Files that are no crash dumps but are handed to a dump reader in practice, and what to do with each. */

import { once } from "../base/once.ts";

/** One kind of foreign file. */
export interface ForeignKind {
  /** What it is, to stand after "is". */
  what: string;
  /** What to do about it. */
  hint: string;
}

interface Signature extends ForeignKind {
  offset: number;
  bytes: readonly number[];
}

const ARCHIVE_HINT = "Unpack it and inspect the dump inside";
const DISK_HINT = "Take a dump of the guest, or copy the dump file out of the disk";

const signatures = once((): readonly Signature[] => [
  starts("MSCF", "a cabinet", "Expand the cabinet and inspect the dump inside"),
  starts([0x50, 0x4B, 0x03, 0x04], "a zip archive", ARCHIVE_HINT),
  starts([0x50, 0x4B, 0x05, 0x06], "an empty zip archive", ARCHIVE_HINT),
  starts([0x1F, 0x8B], "a gzip file", ARCHIVE_HINT),
  starts([0x37, 0x7A, 0xBC, 0xAF], "a 7-Zip archive", ARCHIVE_HINT),
  starts([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "an xz file", ARCHIVE_HINT),
  starts([0x28, 0xB5, 0x2F, 0xFD], "a zstd file", ARCHIVE_HINT),
  starts([0x04, 0x22, 0x4D, 0x18], "an lz4 file", ARCHIVE_HINT),
  starts("BZh", "a bzip2 file", ARCHIVE_HINT),
  starts("Rar!", "a rar archive", ARCHIVE_HINT),
  { ...starts("ustar", "a tar archive", ARCHIVE_HINT), offset: 257 },
  ...["HIBR", "hibr", "WAKE", "wake", "RSTR"].map((text) =>
    starts(text, "a hibernation file", "A hibernation file holds memory, but no crash; take a dump instead")
  ),
  starts("version https://git-lfs", "a Git LFS pointer", "Fetch the real file with: git lfs pull"),
  starts([0x7F, 0x45, 0x4C, 0x46], "an ELF file that is not a core", "Give the core file, not the program"),
  starts("MZ", "a Windows program", "Give the dump, not the program or driver"),
  starts("Microsoft C/C++ MSF 7.00", "a PDB symbol file", "Give the dump; symbols are found by their store"),
  starts("QFI\xFB", "a qcow2 disk image", DISK_HINT),
  starts("vhdxfile", "a VHDX disk image", DISK_HINT),
  starts("conectix", "a VHD disk image", DISK_HINT),
  starts("KDMV", "a VMDK disk image", DISK_HINT),
]);

/** Recognises a foreign file by its first bytes; null when it is none of those known. */
export function recogniseForeign(head: Uint8Array): ForeignKind | null {
  const found = signatures().find(({ offset, bytes }) =>
    head.length >= offset + bytes.length && bytes.every((byte, index) => head[offset + index] === byte)
  );
  if (found !== undefined) return { what: found.what, hint: found.hint };
  if (head.length >= 512 && head.every((byte) => byte === 0)) {
    return {
      what: "a file that begins with zeros only, as reserved dump files do",
      hint: "A dedicated dump file becomes readable after Windows has copied the dump out of it",
    };
  }
  return null;
}

function starts(signature: string | readonly number[], what: string, hint: string): Signature {
  const bytes = typeof signature === "string"
    ? Array.from(signature, (character) => character.charCodeAt(0))
    : signature;
  return { offset: 0, bytes, what, hint };
}
