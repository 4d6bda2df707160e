/** Archives that a Linux kernel unpacks as its first file system: cpio in the `newc` form. */

/** One entry; folders stand before what is in them. */
export interface CpioEntry {
  /** Relative, with `/`, without `.` and `..`. */
  path: string;
  /** Type and permission bits, such as {@link CPIO_FOLDER}. */
  mode: number;
  size_bytes: number;
}

/** A folder that everybody may read. */
export const CPIO_FOLDER = 0o040755;
/** A file that everybody may read. */
export const CPIO_FILE = 0o100644;

/** A kernel looks for the next archive at multiples of this, and skips zeros on the way. */
export const CPIO_ALIGNMENT = 4;

const MAGIC = "070701";
const TRAILER = "TRAILER!!!";

/** What stands before an entry's content: header and name, padded. `number` tells entries apart and begins at 1. */
export function cpioHeader({ path, mode, size_bytes }: CpioEntry, number: number): Uint8Array {
  const name = new TextEncoder().encode(`${path}\0`);
  const links = mode === CPIO_FOLDER ? 2 : 1;
  // Inode, mode, owner, group, links, time, size, four device numbers, length of the name, checksum.
  const fields = [number, mode, 0, 0, links, 0, size_bytes, 0, 0, 0, 0, name.length, 0];
  const header = new TextEncoder().encode(MAGIC + fields.map(hex).join(""));
  const bytes = new Uint8Array(header.length + name.length + cpioPadding(header.length + name.length));
  bytes.set(header);
  bytes.set(name, header.length);
  return bytes;
}

/** The entry that ends an archive. */
export function cpioTrailer(): Uint8Array {
  return cpioHeader({ path: TRAILER, mode: 0, size_bytes: 0 }, 0);
}

/** How many zero bytes bring a length to the alignment. */
export function cpioPadding(length: number): number {
  return (CPIO_ALIGNMENT - length % CPIO_ALIGNMENT) % CPIO_ALIGNMENT;
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, "0");
}
