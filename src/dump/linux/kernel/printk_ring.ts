/** The lockless ring that holds the log since Linux 5.10. Every field's place comes from VMCOREINFO. */

import { badDump, type DumpReason } from "../../reasons.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import { type KernelLog, type LogRecord, recordText } from "./log_record.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

const RING = "kernel_log" satisfies DumpReason;
const COUNT_BITS = { from: 4, to: 24 } as const;
const SIZE_BITS = { from: 8, to: 30 } as const;
/** States in the two top bits of a descriptor; the others are being written or free. */
const COMMITTED = 1n;
const FINALIZED = 2n;
const ID_BITS = 62n;
const ID_MASK = (1n << ID_BITS) - 1n;
/** So many places in a row without a message are no log any more. */
const MOST_MISSES = 65_536;
/** A block of text begins with the number of its descriptor. */
const BLOCK_HEADER_BYTES = 8;
/** Level and flags stand behind the text's length: flags and level share the byte, the level on top. */
const LEVEL_BEHIND_LENGTH = 3;

interface Ring {
  readonly count: bigint;
  readonly textBits: bigint;
  readonly text: bigint;
  readonly descriptors: bigint;
  readonly infos: bigint;
}

/** Reads the ring from its tail to its head. Fails with `hv.bad_dump` (`kernel_log`, `missing_memory`, `vmcoreinfo`). */
export function readPrintkRing(memory: KernelMemory, info: Vmcoreinfo, ringPointer: bigint): KernelLog {
  const ring = memory.u64(ringPointer, "the pointer to the kernel log");
  const descriptorRing = ring + BigInt(info.offset("printk_ringbuffer.desc_ring"));
  const textRing = ring + BigInt(info.offset("printk_ringbuffer.text_data_ring"));
  const inRing = (field: string) => descriptorRing + BigInt(info.offset(`prb_desc_ring.${field}`));
  const countBits = bits(memory, inRing("count_bits"), COUNT_BITS, "records");
  const textAt = textRing + BigInt(info.offset("prb_data_ring.size_bits"));
  const textBits = bits(memory, textAt, SIZE_BITS, "text");
  const count = 1 << countBits;
  const pointer = (field: string) => memory.u64(inRing(field), `the log's ${field}`);
  const layout = {
    descriptor: info.size("prb_desc"),
    state: info.offset("prb_desc.state_var"),
    position: info.offset("prb_desc.text_blk_lpos"),
    info: info.size("printk_info"),
    time: info.offset("printk_info.ts_nsec"),
    length: info.offset("printk_info.text_len"),
  };
  checkLayout(layout);
  const tables: Ring = {
    count: BigInt(count),
    textBits: BigInt(textBits),
    text: memory.u64(textRing + BigInt(info.offset("prb_data_ring.data")), "the log's text"),
    descriptors: pointer("descs"),
    infos: pointer("infos"),
  };
  const head = pointer("head_id");
  const tail = pointer("tail_id");
  const records: LogRecord[] = [];
  let lost = 0;
  let misses = 0;
  for (let id = tail & ID_MASK, step = 0; step < count; step++, id = (id + 1n) & ID_MASK) {
    const record = readRecord(memory, tables, layout, id);
    if (record === "lost") lost++;
    if (record === "lost" || record === null) misses++;
    else {
      misses = 0;
      records.push(record);
    }
    if (misses > MOST_MISSES) break;
    if (id === (head & ID_MASK)) break;
  }
  return { records, lost };
}

interface RingLayout {
  readonly descriptor: number;
  readonly state: number;
  readonly position: number;
  readonly info: number;
  readonly time: number;
  readonly length: number;
}

/** Null for a record that is not there yet or no more, `lost` for one that is not in the dump or whose text is gone. */
function readRecord(
  memory: KernelMemory,
  ring: Ring,
  layout: RingLayout,
  id: bigint,
): LogRecord | "lost" | null {
  const slot = id & (ring.count - 1n);
  const descriptor = viewOf(memory, ring.descriptors + slot * BigInt(layout.descriptor), layout.descriptor);
  if (descriptor === null) return "lost";
  const state = descriptor.getBigUint64(layout.state, true);
  if ((state & ID_MASK) !== id) return null;
  if (state >> ID_BITS !== COMMITTED && state >> ID_BITS !== FINALIZED) return null;
  const info = viewOf(memory, ring.infos + slot * BigInt(layout.info), layout.info);
  if (info === null) return "lost";
  const begin = descriptor.getBigUint64(layout.position, true);
  const end = descriptor.getBigUint64(layout.position + 8, true);
  const text = readBlock(memory, ring, begin, end, info.getUint16(layout.length, true));
  if (text === null) return "lost";
  return {
    time: info.getBigUint64(layout.time, true),
    level: info.getUint8(layout.length + LEVEL_BEHIND_LENGTH) >> 5,
    text,
  };
}

function viewOf(memory: KernelMemory, address: bigint, size: number): DataView | null {
  const bytes = memory.space.read(address, size);
  return bytes === undefined ? null : new DataView(bytes.buffer, bytes.byteOffset, size);
}

/** The text between two positions of the ring; null when it is gone. */
function readBlock(
  memory: KernelMemory,
  ring: Ring,
  begin: bigint,
  end: bigint,
  length: number,
): string | null {
  // An odd position stands for no data: an empty record, or one whose text was pushed out.
  if ((begin & 1n) !== 0n || (end & 1n) !== 0n) return length === 0 ? "" : null;
  const size = 1n << ring.textBits;
  const wrapped = begin >> ring.textBits !== end >> ring.textBits && (end & (size - 1n)) !== 0n;
  const start = wrapped ? 0n : begin & (size - 1n);
  const stop = wrapped ? end & (size - 1n) : start + (end - begin);
  const room = Number(stop - start) - BLOCK_HEADER_BYTES;
  if (stop > size || room < 0) return null;
  const bytes = memory.space.read(ring.text + start + BigInt(BLOCK_HEADER_BYTES), Math.min(length, room));
  return bytes === undefined ? null : recordText(bytes);
}

function bits(
  memory: KernelMemory,
  address: bigint,
  range: { from: number; to: number },
  what: string,
): number {
  const value = memory.u32(address, "the log's geometry");
  if (value >= range.from && value <= range.to) return value;
  throw badDump(RING, `The kernel log claims room for 2^${value} ${what}`, {
    found: value,
    expected: range.to,
  });
}

function checkLayout({ descriptor, state, position, info, time, length }: RingLayout): void {
  const fits = state + 8 <= descriptor && position + 16 <= descriptor && time + 8 <= info &&
    length + LEVEL_BEHIND_LENGTH < info;
  if (!fits) throw badDump(RING, "VMCOREINFO places fields of the kernel log outside their structures");
}
