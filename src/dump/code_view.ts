/** The record that ties an image to its symbol file. */

import { type CodeView, safeFileName } from "./modules.ts";
import { fieldText } from "./text.ts";

/** Bytes that are read of a record: identity and a path. */
export const CODE_VIEW_BYTES = 24 + 512;

const RSDS = 0x53445352;
const NB10 = 0x3031424E;
const BPEL = 0x4270454C;
const LONGEST_BUILD_ID = 64;
const SHORTEST = { RSDS: 24, NB10: 16, BpEL: 4 } as const;

/** Reads a CodeView record; null when it is none or is cut inside its identity. A longer array does no harm. */
export function parseCodeView(bytes: Uint8Array): CodeView | null {
  if (bytes.length < 4) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = view.getUint32(0, true);
  if (format === RSDS && bytes.length >= SHORTEST.RSDS) {
    const path = textAt(bytes, SHORTEST.RSDS);
    return {
      format: "RSDS",
      id: guidText(bytes.subarray(4, 20)),
      age: view.getUint32(20, true),
      path,
      name: safeFileName(path),
    };
  }
  if (format === NB10 && bytes.length >= SHORTEST.NB10) {
    const path = textAt(bytes, SHORTEST.NB10);
    return {
      format: "NB10",
      id: view.getUint32(8, true).toString(16).toUpperCase().padStart(8, "0"),
      age: view.getUint32(12, true),
      path,
      name: safeFileName(path),
    };
  }
  if (format === BPEL) {
    const id = hexText(bytes.subarray(SHORTEST.BpEL, SHORTEST.BpEL + LONGEST_BUILD_ID));
    return { format: "BpEL", id, age: 0, path: "", name: null };
  }
  return null;
}

/** A GUID as symbol stores write it: 32 upper-case digits, the first three parts as numbers. */
export function guidText(bytes: Uint8Array): string {
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  return hexText(Uint8Array.from(order, (index) => bytes[index] ?? 0));
}

function hexText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text.toUpperCase();
}

/** UTF-8 up to a NUL or the end. */
function textAt(bytes: Uint8Array, start: number): string {
  const end = bytes.indexOf(0, start);
  return fieldText(new TextDecoder().decode(bytes.subarray(start, end < 0 ? bytes.length : end)));
}
