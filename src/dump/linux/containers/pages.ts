/** Reads of physical memory that go over the edge of a page. */

import { type Absence, isAbsence } from "../../memory/absence.ts";
import { FRAME_BYTES, type PhysicalMemory } from "../../memory/physical.ts";

/** Exactly `length` bytes from a physical address on, or why not all of them are there. */
export function readAcrossFrames(
  memory: Pick<PhysicalMemory, "page">,
  address: bigint,
  length: number,
): Uint8Array | Absence {
  const joined = new Uint8Array(length);
  let frame = Number(address >> 12n);
  let inside = Number(address & 0xFFFn);
  for (let done = 0; done < length; frame++, inside = 0) {
    const page = memory.page(frame);
    if (isAbsence(page)) return page;
    const piece = page.subarray(inside, Math.min(FRAME_BYTES, inside + length - done));
    joined.set(piece, done);
    done += piece.length;
  }
  return joined;
}
