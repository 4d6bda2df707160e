/** Reads stack traces as debuggers print them. */

import type { OpinionFrame } from "../../contract/dump_analyze.ts";

/**
 * Numbers, dashes and colons before a frame's place: stack pointer, return address, arguments (also masked), in any
 * mixture.
 */
const BEFORE_PLACE =
  /^(?:(?:\(Inline Function\)|[0-9a-f]{8}`[0-9a-f]{8}|[0-9a-f]{8}|-{8}(?:`-{8})?|\?{8}(?:`\?{8})?|:)(?:\s+|$))+/;
const FRAME_NUMBER = /^[0-9a-f]{2} (?=[0-9a-f(])/;
const SOURCE = /\s+\[(.+?)(?: @ (\d+))?\]?$/;

/** The frames of a `k` or of STACK_TEXT, from the innermost on; lines of other kinds are passed over. */
export function parseStack(text: string): OpinionFrame[] {
  const frames: OpinionFrame[] = [];
  for (const line of text.split(/\r?\n/)) {
    const numberless = line.trim().replace(FRAME_NUMBER, "");
    const before = BEFORE_PLACE.exec(numberless);
    if (before === null || !/[0-9a-f]{8}|Inline/.test(before[0])) continue;
    const frame = parsePlace(numberless.slice(before[0].length).trim());
    // Without registers, or behind the end, there is a frame at address 0: it is none.
    if (frame?.module === null && BigInt(frame.offset) === 0n) break;
    if (frame !== null) frames.push(frame);
  }
  return frames;
}

/** `evil!FrLeaf+0x1 [evil.c @ 9]`, `evil+0x10ec`, `<Unloaded_gone.sys>+0x1234`, `0x7e`; null for anything else. */
export function parsePlace(text: string): OpinionFrame | null {
  const source = SOURCE.exec(text);
  const place = source === null ? text : text.slice(0, source.index);
  const [, module, symbol, offset = "0"] = /^([^!\s]+)!(.+?)(?:\+(?:0x)?([0-9a-f]+))?$/.exec(place) ?? [];
  if (module !== undefined && symbol !== undefined) {
    const file = source?.[1]?.split(/[\\/]/).at(-1);
    return {
      module,
      symbol,
      offset: `0x${offset.replace(/^0+(?=.)/, "")}`,
      ...(file !== undefined && source?.[2] !== undefined ? { source: `${file}:${source[2]}` } : {}),
    };
  }
  const [, image, distance] = /^([^!+\s]+)\+(?:0x)?([0-9a-f]+)$/.exec(place) ?? [];
  if (image !== undefined && distance !== undefined) {
    return { module: image, offset: `0x${distance.replace(/^0+(?=.)/, "")}` };
  }
  return /^0x[0-9a-f`]+$/.test(place) ? { module: null, offset: place.replace("`", "") } : null;
}
