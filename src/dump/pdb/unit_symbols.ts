/** Functions of one compilation unit, and those that the compiler put into them. */

import { viewOf } from "../pe/image.ts";
import type { SectionPlace } from "./sections.ts";

/** A function. */
export interface Procedure extends SectionPlace {
  readonly name: string;
  readonly length: number;
  /** Functions put into it, outermost first; positions are from the function's begin. */
  readonly inlined: readonly InlineSite[];
}

/** One function that was put into another. */
export interface InlineSite {
  /** Number of the function's name among the ids. */
  readonly inlinee: number;
  /** How deep: 1 is directly in the function. */
  readonly depth: number;
  readonly annotations: Uint8Array;
}

const KINDS = {
  procedures: new Set([0x110F, 0x1110, 0x1146, 0x1147]),
  inlineSite: 0x114D,
  inlineEnd: 0x114E,
} as const;
/** Name of a procedure, behind its fixed part. */
const NAME = 39;
const MAXIMUM_SITES = 1024;

/** The function that a place lies in; `symbols` are the unit's records behind its signature. Null when none says so. */
export function findProcedure(symbols: Uint8Array, place: SectionPlace): Procedure | null {
  const view = viewOf(symbols);
  for (let at = 0; at + 4 <= symbols.length;) {
    const length = view.getUint16(at, true);
    const end = at + 2 + length;
    if (length < 2 || end > symbols.length) return null;
    if (KINDS.procedures.has(view.getUint16(at + 2, true)) && at + NAME <= end) {
      const size = view.getUint32(at + 16, true);
      const offset = view.getUint32(at + 32, true);
      const section = view.getUint16(at + 36, true);
      if (section === place.section && place.offset >= offset && place.offset - offset < size) {
        return {
          section,
          offset,
          length: size,
          name: textAt(symbols, at + NAME, end),
          inlined: readSites(symbols, end, view.getUint32(at + 8, true)),
        };
      }
    }
    at = end;
  }
  return null;
}

/** Inline sites up to the end of the function; `procedureEnd` counts from the stream's begin, 4 bytes before. */
function readSites(symbols: Uint8Array, start: number, procedureEnd: number): InlineSite[] {
  const view = viewOf(symbols);
  const sites: InlineSite[] = [];
  const stop = Math.min(symbols.length, procedureEnd - 4);
  let depth = 0;
  for (let at = start; at + 4 <= stop && sites.length < MAXIMUM_SITES;) {
    const length = view.getUint16(at, true);
    const end = at + 2 + length;
    if (length < 2 || end > stop) break;
    const kind = view.getUint16(at + 2, true);
    if (kind === KINDS.inlineEnd) depth--;
    if (kind === KINDS.inlineSite && at + 16 <= end) {
      depth++;
      sites.push({
        inlinee: view.getUint32(at + 12, true),
        depth,
        annotations: symbols.subarray(at + 16, end),
      });
    }
    at = end;
  }
  return sites;
}

function textAt(bytes: Uint8Array, start: number, end: number): string {
  const stop = bytes.indexOf(0, start);
  return new TextDecoder().decode(bytes.subarray(start, stop < 0 || stop > end ? end : stop));
}
