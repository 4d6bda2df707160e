/** Opens the pages of a kernel dump for reading, whatever the form of its body. */

import type { ByteReader, ByteSource } from "../bytes.ts";
import { BitmapIndex, type FrameRun, NO_PAGES, type PageIndex, RunIndex } from "../memory/page_index.ts";
import { DumpPhysicalMemory, type PhysicalMemory } from "../memory/physical.ts";
import { BITMAP_HEADER, SUMMARY_HEADER } from "./bitmap.ts";
import type { KernelBody } from "./body.ts";
import { HeaderFields } from "./filler.ts";
import { fillerOf } from "./header.ts";
import type { HeaderLayout } from "./header_layout.ts";
import { RANGE_BYTES, RDMP_HEADER } from "./rdmp.ts";
import { PAGE_FRAME_LIMIT } from "./runs.ts";

/** More ranges than any machine's memory falls into; 16 MiB of list. */
const MAXIMUM_RANGES = 1024 * 1024;

/**
 * The pages of a dump whose body has been recognised; null for forms without pages. A damaged list gives what can be
 * used of it: the runs that fit, or no page at all. The warnings about it are those of reading the body.
 */
export function openPhysicalPages(
  source: ByteSource,
  reader: ByteReader,
  layout: HeaderLayout,
  body: KernelBody,
): PhysicalMemory | null {
  const first = body.summary.firstPageOffset;
  const firstPage = first === null || first > BigInt(source.size) ? source.size : Number(first);
  const open = (index: PageIndex) => new DumpPhysicalMemory(source, index, firstPage);
  switch (body.form) {
    case "runs":
      return open(new RunIndex(readHeaderRuns(reader, layout)));
    case "ranges":
      return open(new RunIndex(readRanges(source, reader, layout, firstPage)));
    case "bitmap":
      return open(openBitmap(source, layout.size + BITMAP_HEADER.bitmap.offset, body));
    case "summary": {
      const bitmap = layout.bits === 64 ? SUMMARY_HEADER.bitmap64 : SUMMARY_HEADER.bitmap32;
      return open(openBitmap(source, layout.size + bitmap.offset, body));
    }
    default:
      return null;
  }
}

/** Reading the body left the expected size out when the bitmap cannot be trusted. */
function openBitmap(source: ByteSource, offset: number, { summary }: KernelBody): PageIndex {
  if (summary.bitmapBits === null || summary.expectedSize === null) return NO_PAGES;
  return new BitmapIndex(source, offset, Number(summary.bitmapBits));
}

/** The runs of the header, as many as its list has room for; none when it was never written. */
function readHeaderRuns(reader: ByteReader, layout: HeaderLayout): FrameRun[] {
  const { number_of_runs, runs } = layout.fields;
  const claimed = new HeaderFields(reader, fillerOf(reader, layout)).number(number_of_runs, "NumberOfRuns");
  const width = layout.bits / 8;
  const count = Math.min(claimed ?? 0, Math.floor(runs.size / (2 * width)));
  const found: FrameRun[] = [];
  for (let index = 0; index < count; index++) {
    const at = runs.offset + index * 2 * width;
    if (!reader.has(at, 2 * width)) break;
    found.push(
      width === 8
        ? frameRun(reader.u64(at, "BasePage"), reader.u64(at + 8, "PageCount"))
        : { first: reader.u32(at, "BasePage"), count: reader.u32(at + 4, "PageCount") },
    );
  }
  return found;
}

function readRanges(
  source: ByteSource,
  reader: ByteReader,
  layout: HeaderLayout,
  firstPage: number,
): FrameRun[] {
  const list = layout.size + RDMP_HEADER.ranges.offset;
  const room = Math.max(0, Math.floor((Math.min(firstPage, source.size) - list) / RANGE_BYTES));
  const claimed = reader.u32(layout.size + RDMP_HEADER.number_of_ranges.offset, "NumberOfRanges");
  const count = Math.min(claimed, room, MAXIMUM_RANGES);
  const bytes = source.read(list, count * RANGE_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: FrameRun[] = [];
  for (let at = 0; at + RANGE_BYTES <= bytes.length; at += RANGE_BYTES) {
    found.push(frameRun(view.getBigUint64(at, true), view.getBigUint64(at + 8, true)));
  }
  return found;
}

/** A run cut at the largest frame that any machine has. */
function frameRun(first: bigint, count: bigint): FrameRun {
  if (first >= PAGE_FRAME_LIMIT) return { first: 0, count: 0 };
  const room = PAGE_FRAME_LIMIT - first;
  return { first: Number(first), count: Number(count < room ? count : room) };
}
