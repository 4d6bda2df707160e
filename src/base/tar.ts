/** Writing tar archives, in the form that GNU tar, busybox and bsdtar read: ustar, with GNU's entries for long names. */

/** What an entry is. A link's content is the text that it leads to. */
export type TarKind = "file" | "folder" | "link";

/** One entry; folders stand before what is in them. */
export interface TarEntry {
  /** Relative, with `/`, without `..`. */
  path: string;
  kind: TarKind;
  size_bytes: number;
  /** Permission bits. */
  mode: number;
  /** Seconds since 1970. */
  modified_s: number;
  /** Where a link leads. */
  target?: string;
}

/** Everything in an archive begins at multiples of this. */
export const TAR_BLOCK = 512;

const TYPES: Readonly<Record<TarKind, string>> = { file: "0", folder: "5", link: "2" };
/** GNU's entries that hold the name or the target of the one behind them. */
const LONG_NAME = "L";
const LONG_TARGET = "K";
const NAME_BYTES = 100;
/** Eleven octal digits. */
const OCTAL_LIMIT = 8 ** 11;

/** What stands before an entry's content. */
export function tarHeader({ path, kind, size_bytes, mode, modified_s, target = "" }: TarEntry): Uint8Array {
  const encoder = new TextEncoder();
  const name = encoder.encode(kind === "folder" ? `${path}/` : path);
  const aim = encoder.encode(target);
  const blocks = [
    ...(name.length > NAME_BYTES ? longText(LONG_NAME, name) : []),
    ...(aim.length > NAME_BYTES ? longText(LONG_TARGET, aim) : []),
    block({ name, type: TYPES[kind], size: size_bytes, mode, modified_s, aim }),
  ];
  return joined(blocks);
}

/** The zero bytes behind a content of so many bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

/** What ends an archive. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * TAR_BLOCK);
}

function longText(type: string, text: Uint8Array): Uint8Array[] {
  const name = new TextEncoder().encode("././@LongLink");
  const size = text.length + 1;
  const content = new Uint8Array(size + tarPadding(size).length);
  content.set(text);
  return [block({ name, type, size, mode: 0, modified_s: 0, aim: new Uint8Array(0) }), content];
}

interface Block {
  name: Uint8Array;
  type: string;
  size: number;
  mode: number;
  modified_s: number;
  aim: Uint8Array;
}

function block({ name, type, size, mode, modified_s, aim }: Block): Uint8Array {
  const bytes = new Uint8Array(TAR_BLOCK);
  const text = (at: number, value: string): void => bytes.set(new TextEncoder().encode(value), at);
  bytes.set(name.subarray(0, NAME_BYTES), 0);
  text(100, octal(mode, 7));
  text(108, octal(0, 7));
  text(116, octal(0, 7));
  if (size < OCTAL_LIMIT) text(124, octal(size, 11));
  else setLarge(bytes, 124, size);
  text(136, octal(Math.min(Math.max(0, Math.floor(modified_s)), OCTAL_LIMIT - 1), 11));
  text(148, " ".repeat(8));
  text(156, type);
  bytes.set(aim.subarray(0, NAME_BYTES), 157);
  text(257, "ustar  ");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  text(148, `${octal(sum, 6)}\0 `);
  return bytes;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** A number of more than eleven octal digits stands in base 256 behind a set bit. */
function setLarge(bytes: Uint8Array, at: number, value: number): void {
  new DataView(bytes.buffer).setBigUint64(at + 4, BigInt(value));
  bytes[at] = 0x80;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
