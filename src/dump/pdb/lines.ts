/** Line tables of one compilation unit. */

import { viewOf } from "../pe/image.ts";
import type { SectionPlace } from "./sections.ts";

const LINES = 0xF2;
const CHECKSUMS = 0xF4;
const INLINEES = 0xF6;
const LINE_MASK = 0xFF_FFFF;
/** Marks code that belongs to no line. */
const NO_LINE = new Set([0xFEEFEE, 0xF00F00]);

/** A line: `file` is an offset into the file checksums. */
export interface RawLine {
  readonly file: number;
  readonly line: number;
}

interface Subsection {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** The tables of one unit. */
export class LineTables {
  readonly #parts: readonly Subsection[];

  constructor(bytes: Uint8Array) {
    this.#parts = readSubsections(bytes);
  }

  /** The line of a place; null when no table has it. */
  lineAt(place: SectionPlace): RawLine | null {
    for (const { kind, bytes } of this.#parts) {
      const found = kind === LINES ? lineIn(bytes, place) : null;
      if (found !== null) return found;
    }
    return null;
  }

  /** Where an inlined function begins: its file and the line of its begin. */
  inlinee(id: number): RawLine | null {
    for (const { kind, bytes } of this.#parts) {
      const found = kind === INLINEES ? inlineeIn(bytes, id) : null;
      if (found !== null) return found;
    }
    return null;
  }

  /** Offset of a file's name in the file's text table; null when it is not listed. */
  fileName(file: number): number | null {
    for (const { kind, bytes } of this.#parts) {
      if (kind === CHECKSUMS && file + 4 <= bytes.length) return viewOf(bytes).getUint32(file, true);
    }
    return null;
  }
}

function readSubsections(bytes: Uint8Array): Subsection[] {
  const view = viewOf(bytes);
  const found: Subsection[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (length > bytes.length - start) break;
    found.push({ kind: view.getUint32(at, true), bytes: bytes.subarray(start, start + length) });
    at = start + ((length + 3) & ~3);
  }
  return found;
}

function lineIn(bytes: Uint8Array, { section, offset }: SectionPlace): RawLine | null {
  if (bytes.length < 12) return null;
  const view = viewOf(bytes);
  const start = view.getUint32(0, true);
  if (view.getUint16(4, true) !== section || offset < start || offset - start >= view.getUint32(8, true)) {
    return null;
  }
  let best: (RawLine & { at: number }) | null = null;
  for (let block = 12; block + 12 <= bytes.length;) {
    const file = view.getUint32(block, true);
    const count = view.getUint32(block + 4, true);
    const size = view.getUint32(block + 8, true);
    if (size < 12 || size > bytes.length - block || count * 8 > size - 12) break;
    for (let index = 0; index < count; index++) {
      const at = view.getUint32(block + 12 + index * 8, true);
      const line = view.getUint32(block + 16 + index * 8, true) & LINE_MASK;
      if (at <= offset - start && (best === null || at >= best.at)) best = { file, line, at };
    }
    block += size;
  }
  return best === null || NO_LINE.has(best.line) || best.line === 0
    ? null
    : { file: best.file, line: best.line };
}

function inlineeIn(bytes: Uint8Array, id: number): RawLine | null {
  if (bytes.length < 4) return null;
  const view = viewOf(bytes);
  const extended = view.getUint32(0, true) === 1;
  for (let at = 4; at + 12 <= bytes.length;) {
    if (view.getUint32(at, true) === id) {
      return { file: view.getUint32(at + 4, true), line: view.getUint32(at + 8, true) };
    }
    if (extended && at + 16 > bytes.length) break;
    at += extended ? 16 + view.getUint32(at + 12, true) * 4 : 12;
  }
  return null;
}
