/** Blocks of data that drivers add behind a small memory dump. */

import type { ByteReader } from "../bytes.ts";
import { hex } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";

const MAXIMUM_BLOBS = 256;
/** `Dump` and `Blob`, which begin the secondary data. */
const SECONDARY_DUMP = 0x706D7544;
const SECONDARY_BLOB = 0x626F6C42;

/**
 * Counts the tagged blocks that begin at `start`, if any do; each step reads one 32-byte header. Warns
 * `secondary_data` where they are damaged or cut.
 */
export function walkSecondaryData(
  reader: ByteReader,
  start: number,
  warnings: DumpWarning[],
): { blobs: number; bytes: number } {
  const found = { blobs: 0, bytes: 0 };
  if (!reader.has(start, 16)) return found;
  if (reader.u32(start, "secondary data") !== SECONDARY_DUMP) return found;
  if (reader.u32(start + 4, "secondary data") !== SECONDARY_BLOB) return found;
  let offset = start + reader.u32(start + 8, "HeaderSize");
  while (offset < reader.size && found.blobs < MAXIMUM_BLOBS) {
    const fits = reader.has(offset, 32);
    const headerSize = fits ? reader.u32(offset, "HeaderSize") : 0;
    const dataSize = fits ? reader.u32(offset + 20, "DataSize") : 0;
    const padding = fits ? reader.u32(offset + 24, "PrePad") + reader.u32(offset + 28, "PostPad") : 0;
    if (headerSize < 32 || !reader.has(offset, headerSize + dataSize + padding)) {
      warnings.push({
        reason: "secondary_data",
        message: `The secondary data is damaged or cut at ${hex(offset)}, after ${found.blobs} blocks`,
        offset,
      });
      break;
    }
    found.blobs++;
    found.bytes += dataSize;
    offset += headerSize + dataSize + padding;
  }
  return found;
}
