/** Names of functions by their id, for those that were put into others. */

import { ByteReader } from "../bytes.ts";
import type { MsfFile } from "./msf.ts";

const ID_STREAM = 4;
const FUNCTION = 0x1601;
const MEMBER = 0x1602;
/** A list that is longer is not searched: its file is large, and names of inlined functions are a comfort. */
const LARGEST_STREAM = 64 * 1024 * 1024;

/** The name of a function id; null when it is none or the list is too long. */
export function functionName(msf: MsfFile, id: number): string | null {
  const stream = msf.stream(ID_STREAM);
  if (stream === null || stream.size > LARGEST_STREAM) return null;
  const reader = new ByteReader(stream, { what: "symbol file" });
  if (!reader.has(0, 16)) return null;
  const first = reader.u32(8, "first id");
  const end = reader.u32(12, "last id");
  if (id < first || id >= end) return null;
  let at = reader.u32(4, "header size");
  for (let number = first; reader.has(at, 4); number++) {
    const length = reader.u16(at, "record");
    if (length < 2) return null;
    if (number === id) {
      const kind = reader.u16(at + 2, "kind");
      if ((kind !== FUNCTION && kind !== MEMBER) || length < 11) return null;
      return reader.ascii(at + 12, length - 10, "name");
    }
    at += length + 2;
  }
  return null;
}
