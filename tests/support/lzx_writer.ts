/**
 * Packs files as LZX cabinets. It shares nothing with the reader: its codes are of fixed lengths that are complete, and
 * its matches are whatever a short search finds.
 */

import { DumpBytes, joinBytes } from "./dump_writer.ts";

/** What a part of the stream is written as. */
export type LzxPart = "verbatim" | "aligned" | "uncompressed";

export interface LzxOptions {
  /** 15 to 21. */
  windowBits: number;
  /** Kinds of the parts, in turn. */
  parts: readonly LzxPart[];
  /** Bytes of a part; it may go over the ends of frames. */
  partBytes: number;
  /** Writes the targets of calls as absolute ones for a file of this size; 0 leaves them. */
  translation: number;
}

const FRAME = 32_768;
const SLOTS = new Map([[15, 30], [16, 32], [17, 34], [18, 36], [19, 38], [20, 42], [21, 50]]);

/** Bits in words of 16, from the highest down. */
class BitWriter {
  readonly bytes: number[] = [];
  #bits = 0;
  #count = 0;

  write(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit--) {
      this.#bits = this.#bits * 2 + (Math.floor(value / 2 ** bit) & 1);
      if (++this.#count === 16) this.#flush();
    }
  }

  /** Fills the word; `whole` writes a word of padding where nothing is to be filled. */
  align(whole: boolean): void {
    if (this.#count === 0 && !whole) return;
    do this.write(0, 1); while (this.#count !== 0);
  }

  #flush(): void {
    this.bytes.push(this.#bits & 0xFF, this.#bits >> 8);
    this.#bits = 0;
    this.#count = 0;
  }
}

/** Lengths of a complete code for so many symbols: two lengths next to each other. */
function lengthsFor(symbols: number): number[] {
  const long = Math.ceil(Math.log2(symbols));
  const short = 2 ** long - symbols;
  return Array.from({ length: symbols }, (_, symbol) => symbol < short ? long - 1 : long);
}

function wordsOf(lengths: readonly number[]): { word: number; length: number }[] {
  const words: { word: number; length: number }[] = lengths.map((length) => ({ word: 0, length }));
  let next = 0;
  for (let length = 1; length <= 16; length++) {
    words.forEach((entry) => {
      if (entry.length === length) entry.word = next++;
    });
    next *= 2;
  }
  return words;
}

/** Frames of a stream, packed. */
export function packLzx(plain: Uint8Array, options: LzxOptions): Uint8Array[] {
  const slots = SLOTS.get(options.windowBits) ?? 0;
  const data = options.translation === 0 ? plain : translated(plain, options.translation);
  const mainLengths = lengthsFor(256 + slots * 8);
  const main = wordsOf(mainLengths);
  const lengthLengths = lengthsFor(249);
  const lengthCode = wordsOf(lengthLengths);
  const aligned = wordsOf(lengthsFor(8));
  const preLengths = lengthsFor(20);
  const pre = wordsOf(preLengths);
  let recent = [1, 1, 1];
  let told = { main: new Array<number>(main.length).fill(0), length: new Array<number>(249).fill(0) };
  const frames: Uint8Array[] = [];
  let bits = new BitWriter();
  const put = ({ word, length }: { word: number; length: number } = { word: 0, length: 0 }): void =>
    bits.write(word, length);
  const tell = (before: number[], now: readonly number[], start: number, end: number): void => {
    for (const length of preLengths) bits.write(length, 4);
    for (let at = start; at < end; at++) put(pre[((before[at] ?? 0) - (now[at] ?? 0) + 17) % 17]);
  };
  const last = new Map<number, number>();
  let part = -1;
  let left = 0;
  let kind: LzxPart = "verbatim";
  let partSize = 0;
  for (let start = 0; start < data.length; start += FRAME) {
    const end = Math.min(data.length, start + FRAME);
    bits = new BitWriter();
    if (start === 0) {
      bits.write(options.translation === 0 ? 0 : 1, 1);
      if (options.translation !== 0) bits.write(options.translation, 32);
    }
    for (let at = start; at < end;) {
      if (left === 0) {
        kind = options.parts[++part % options.parts.length] ?? "verbatim";
        partSize = left = Math.min(options.partBytes, data.length - at);
        bits.write({ verbatim: 1, aligned: 2, uncompressed: 3 }[kind], 3);
        bits.write(left, 24);
        if (kind === "uncompressed") {
          bits.align(true);
          const words = new DumpBytes(12).u32(0, ...recent).bytes;
          bits.bytes.push(...words);
        } else {
          if (kind === "aligned") { for (const { length } of aligned) bits.write(length, 3); }
          tell(told.main, mainLengths, 0, 256);
          tell(told.main, mainLengths, 256, main.length);
          tell(told.length, lengthLengths, 0, 249);
          told = { main: mainLengths, length: lengthLengths };
        }
      }
      const room = Math.min(end - at, left);
      if (kind === "uncompressed") {
        bits.bytes.push(...data.subarray(at, at + room));
        for (let each = 0; each < room; each++) remember(last, data, at + each);
        at += room;
        left -= room;
        if (left === 0 && partSize % 2 === 1) bits.bytes.push(0);
        continue;
      }
      const key = keyAt(data, at);
      const earlier = key === undefined ? undefined : last.get(key);
      const farthest = 2 ** options.windowBits - 3;
      let length = 0;
      if (earlier !== undefined && at - earlier <= farthest) {
        while (length < Math.min(room, 257) && data[earlier + length] === data[at + length]) length++;
      }
      if (earlier === undefined || length < 3) {
        put(main[data[at] ?? 0]);
        length = 1;
      } else {
        const distance = at - earlier;
        const seen = recent.indexOf(distance);
        const { slot, extra, rest } = seen >= 0 ? { slot: seen, extra: 0, rest: 0 } : slotOf(distance + 2);
        const short = Math.min(7, length - 2);
        put(main[256 + slot * 8 + short]);
        if (short === 7) put(lengthCode[length - 9]);
        if (kind === "aligned" && extra >= 3) {
          bits.write(rest >> 3, extra - 3);
          put(aligned[rest & 7]);
        } else bits.write(rest, extra);
        if (seen < 0) recent = [distance, recent[0] ?? 1, recent[1] ?? 1];
        else if (seen > 0) {
          const first = recent[0] ?? 1;
          recent[0] = distance;
          recent[seen] = first;
        }
      }
      for (let each = 0; each < length; each++) remember(last, data, at + each);
      at += length;
      left -= length;
    }
    if (kind !== "uncompressed" || left === 0) bits.align(false);
    frames.push(Uint8Array.from(bits.bytes));
  }
  return frames;
}

function keyAt(data: Uint8Array, at: number): number | undefined {
  if (at + 3 > data.length) return undefined;
  return (data[at] ?? 0) + (data[at + 1] ?? 0) * 256 + (data[at + 2] ?? 0) * 65_536;
}

function remember(last: Map<number, number>, data: Uint8Array, at: number): void {
  const key = keyAt(data, at);
  if (key !== undefined) last.set(key, at);
}

/** The slot of a distance that has 2 added, and what is left of it for the bits after the slot. */
function slotOf(value: number): { slot: number; extra: number; rest: number } {
  let base = 0;
  for (let slot = 0;; slot++) {
    const extra = slot < 4 ? 0 : Math.min(17, (slot >> 1) - 1);
    if (value < base + 2 ** extra) return { slot, extra, rest: value - base };
    base += 2 ** extra;
  }
}

/** Distances of calls as targets, frame by frame, the last ten bytes of each left alone. */
function translated(plain: Uint8Array, size: number): Uint8Array {
  const data = plain.slice();
  for (let start = 0; start < data.length; start += FRAME) {
    const end = Math.min(data.length, start + FRAME);
    const view = new DataView(data.buffer);
    for (let at = start; at < end - 10; at++) {
      if (data[at] !== 0xE8) continue;
      const distance = view.getInt32(at + 1, true);
      if (distance >= -at && distance < size - at) view.setInt32(at + 1, distance + at, true);
      else if (distance >= size - at && distance < size) view.setInt32(at + 1, distance - size, true);
      at += 4;
    }
  }
  return data;
}

/** A cabinet with one file. */
export function writeLzxCabinet(
  name: string,
  plain: Uint8Array,
  options: LzxOptions,
): Uint8Array<ArrayBuffer> {
  const frames = packLzx(plain, options);
  const nameBytes = new TextEncoder().encode(`${name}\0`);
  const folder = 0x24;
  const file = folder + 8;
  const blocks = file + 16 + nameBytes.length;
  const data = frames.map((frame, index) => {
    const head = new DumpBytes(8).u16(4, frame.length, Math.min(FRAME, plain.length - index * FRAME));
    return joinBytes(head.bytes, frame);
  });
  const total = data.reduce((sum, { length }) => sum + length, blocks);
  const head = new DumpBytes(blocks)
    .text(0, "MSCF").u32(8, total).u32(0x10, file).u8(0x18, 3).u8(0x19, 1).u16(0x1A, 1, 1, 0)
    .u32(folder, blocks).u16(folder + 4, frames.length, 3 | (options.windowBits << 8))
    .u32(file, plain.length, 0).u16(file + 8, 0, 0x5B21, 0, 0x20);
  head.bytes.set(nameBytes, file + 16);
  return joinBytes(head.bytes, ...data);
}
