/** The identity of an image's symbol file, by the image's debug directory. */

import { CODE_VIEW_BYTES, parseCodeView } from "../code_view.ts";
import type { CodeView } from "../modules.ts";
import type { PeHeaders } from "./headers.ts";
import { type PartialImage, viewOf } from "./image.ts";

const ENTRY_BYTES = 28;
const MAXIMUM_ENTRIES = 32;
const CODE_VIEW_TYPE = 2;

/** Reads the CodeView record of an image; null when it has none or it is not there. Its path may be cut. */
export function readCodeView(image: PartialImage, { debug }: PeHeaders): CodeView | null {
  if (debug === null) return null;
  const count = Math.min(MAXIMUM_ENTRIES, Math.floor(debug.size / ENTRY_BYTES));
  for (let index = 0; index < count; index++) {
    const entry = image.read(debug.rva + index * ENTRY_BYTES, ENTRY_BYTES);
    if (entry === undefined) continue;
    const view = viewOf(entry);
    if (view.getUint32(12, true) !== CODE_VIEW_TYPE) continue;
    const size = Math.min(view.getUint32(16, true), CODE_VIEW_BYTES);
    const parsed = parseCodeView(image.readUpTo(view.getUint32(20, true), size));
    if (parsed !== null) return parsed;
  }
  return null;
}
