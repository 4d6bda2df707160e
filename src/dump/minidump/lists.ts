/** Lists of a minidump: how many elements they really have, and where. */

import type { ByteReader } from "../bytes.ts";
import type { DumpWarning } from "../reasons.ts";
import type { StreamRange } from "./directory.ts";

/** Where the elements of a list lie. */
export interface ListExtent {
  readonly first: number;
  readonly count: number;
}

/** Padding that some writers put behind the count, so that elements are aligned to eight bytes. */
const PADDED_HEAD = 8;
const PLAIN_HEAD = 4;

/**
 * The elements of a list that begins with a 32-bit count. A count beyond the stream or the file is cut and warned of
 * (`stream_damaged`); `cap` bounds it as well.
 */
export function countedList(
  reader: ByteReader,
  range: StreamRange,
  name: string,
  elementBytes: number,
  cap: number,
  warnings: DumpWarning[],
): ListExtent {
  const claimed = reader.u32(range.offset, name);
  const head = range.size === PADDED_HEAD + claimed * elementBytes ? PADDED_HEAD : PLAIN_HEAD;
  return boundedList(
    reader,
    { first: range.offset + head, count: claimed },
    range.offset + range.size,
    name,
    elementBytes,
    cap,
    warnings,
  );
}

/** A list that ends at `end` at the latest, cut to what is there. */
export function boundedList(
  reader: ByteReader,
  claimed: ListExtent,
  end: number,
  name: string,
  elementBytes: number,
  cap: number,
  warnings: DumpWarning[],
): ListExtent {
  const room = Math.max(0, Math.floor((Math.min(end, reader.size) - claimed.first) / elementBytes));
  const count = Math.min(claimed.count, room, cap);
  if (count < claimed.count) {
    warnings.push({
      reason: "stream_damaged",
      message: `The ${name} claims ${claimed.count} elements, ${count} of them can be read`,
      offset: claimed.first,
      expected: claimed.count,
      actual: count,
    });
  }
  return { first: claimed.first, count };
}
