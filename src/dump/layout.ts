/** Layout tables: where the fields of a structure lie, as data and nothing else. */

/** One field: position from the structure's start, size in bytes, and where this is known from. */
export interface Field {
  readonly offset: number;
  readonly size: number;
  readonly source: Source;
}

/** A structure's fields by name. */
export type Layout = Readonly<Record<string, Field>>;

/** Public sources that state the layouts; several agree on most fields. */
export type Source =
  | "kdmp-parser"
  | "kdmp-parser-rs"
  | "rekall"
  | "rizin"
  | "ghidra"
  | "memprocfs"
  | "microsoft-documentation"
  | "reactos"
  | "offline-crash-dump-uefi"
  | "breakpad"
  | "debugger-observed"
  | "elf-specification"
  | "makedumpfile"
  | "qemu"
  | "linux-headers";

/** Writes one row of a layout table. */
export function at(offset: number, size: number, source: Source): Field {
  return { offset, size, source };
}

/** The same field of a structure that starts at `start`. */
export function from(start: number, field: Field): Field {
  return { ...field, offset: start + field.offset };
}
