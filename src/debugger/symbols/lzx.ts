/**
 * LZX as cabinets use it: frames of 32 KiB, each from its own block, in one stream of codes with one window. Facts of
 * the format: Microsoft's published description of the cabinet format.
 */

import { BitReader } from "./bit_reader.ts";
import { HuffmanCode } from "./huffman.ts";

const FRAME = 32_768;
const LITERALS = 256;
const LENGTHS = 249;
const SHORTEST_MATCH = 2;
/** Position slots by the window's size in bits. */
const SLOTS: ReadonlyMap<number, number> = new Map([
  ...[[15, 30], [16, 32], [17, 34], [18, 36], [19, 38], [20, 42], [21, 50]] as const,
]);
const VERBATIM = 1;
const ALIGNED = 2;
const UNCOMPRESSED = 3;
/** Calls are translated in the first GiB only. */
const TRANSLATED_BYTES = FRAME * 32_768;
const CALL = 0xE8;
const CALL_TAIL = 10;

const EXTRA_BITS: number[] = [];
const BASES: number[] = [];
for (let slot = 0, base = 0; slot < 50; slot++) {
  const extra = slot < 4 ? 0 : Math.min(17, (slot >> 1) - 1);
  EXTRA_BITS.push(extra);
  BASES.push(base);
  base += 2 ** extra;
}

/** Takes the blocks of one folder in their order. */
export class LzxDecoder {
  readonly #window: Uint8Array;
  readonly #mask: number;
  readonly #main: Uint8Array;
  readonly #lengths = new Uint8Array(LENGTHS);
  #mainCode = new HuffmanCode(new Uint8Array(0));
  #lengthCode = this.#mainCode;
  #alignedCode = this.#mainCode;
  #recent: [number, number, number] = [1, 1, 1];
  #at = 0;
  #total = 0;
  #block = { kind: 0, left: 0, padded: false };
  /** Size that calls are translated for; null before the stream said, 0 when they are not. */
  #translation: number | null = null;

  /** `windowBits` are 15 to 21. Fails with `RangeError` for others. */
  constructor(windowBits: number) {
    const slots = SLOTS.get(windowBits);
    if (slots === undefined) throw new RangeError(`a window of ${windowBits} bits`);
    this.#window = new Uint8Array(2 ** windowBits);
    this.#mask = this.#window.length - 1;
    this.#main = new Uint8Array(LITERALS + slots * 8);
  }

  /** One frame of `size` bytes. Fails with `RangeError` for damage. */
  decode(block: Uint8Array, size: number): Uint8Array {
    if (size > FRAME) throw new RangeError(`a frame of ${size} bytes`);
    const bits = new BitReader(block);
    this.#translation ??= bits.read(1) === 1 ? bits.read(32) : 0;
    const frame = new Uint8Array(size);
    for (let done = 0; done < size;) {
      if (this.#block.left === 0) this.#begin(bits);
      const wanted = Math.min(size - done, this.#block.left);
      if (this.#block.kind === UNCOMPRESSED) this.#copy(bits, frame, done, wanted);
      else this.#expand(bits, frame, done, wanted);
      done += wanted;
      this.#block.left -= wanted;
      if (this.#block.left === 0 && this.#block.kind === UNCOMPRESSED && this.#block.padded) bits.bytes(1);
      if (bits.isPastEnd) throw new RangeError("the block is too short");
    }
    const start = this.#total;
    this.#total += size;
    return this.#translation === 0 || start >= TRANSLATED_BYTES
      ? frame
      : translateCalls(frame, start, this.#translation);
  }

  #begin(bits: BitReader): void {
    const kind = bits.read(3);
    const left = bits.read(24);
    if (kind < VERBATIM || kind > UNCOMPRESSED || left === 0) throw new RangeError(`a part of kind ${kind}`);
    this.#block = { kind, left, padded: left % 2 === 1 };
    if (kind === UNCOMPRESSED) {
      bits.alignForBytes();
      const view = new DataView(Uint8Array.from(bits.bytes(12)).buffer);
      if (view.byteLength < 12) throw new RangeError("the block is too short");
      this.#recent = [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)];
      return;
    }
    if (kind === ALIGNED) {
      this.#alignedCode = new HuffmanCode(Uint8Array.from({ length: 8 }, () => bits.read(3)));
    }
    readLengths(bits, this.#main, 0, LITERALS);
    readLengths(bits, this.#main, LITERALS, this.#main.length);
    this.#mainCode = new HuffmanCode(this.#main);
    readLengths(bits, this.#lengths, 0, LENGTHS);
    this.#lengthCode = new HuffmanCode(this.#lengths);
  }

  #copy(bits: BitReader, frame: Uint8Array, start: number, count: number): void {
    const piece = bits.bytes(count);
    if (piece.length < count) throw new RangeError("the block is too short");
    for (let index = 0; index < count; index++) this.#put(frame, start + index, piece[index] ?? 0);
  }

  #expand(bits: BitReader, frame: Uint8Array, start: number, count: number): void {
    const end = start + count;
    for (let at = start; at < end;) {
      const symbol = this.#mainCode.read(bits);
      if (symbol < LITERALS) {
        this.#put(frame, at++, symbol);
        continue;
      }
      const short = symbol & 7;
      const length = SHORTEST_MATCH + short + (short === 7 ? this.#lengthCode.read(bits) : 0);
      const distance = this.#distance(bits, (symbol - LITERALS) >> 3);
      if (at + length > end) throw new RangeError("a match that leaves its frame");
      if (distance > this.#window.length || distance > this.#total + at) {
        throw new RangeError("a match of nothing");
      }
      for (let index = 0; index < length; index++) {
        this.#put(frame, at++, this.#window[(this.#at - distance) & this.#mask] ?? 0);
      }
      if (bits.isPastEnd) throw new RangeError("the block is too short");
    }
  }

  #distance(bits: BitReader, slot: number): number {
    const [first, second, third] = this.#recent;
    if (slot === 0) return first;
    if (slot === 1) {
      this.#recent = [second, first, third];
      return second;
    }
    if (slot === 2) {
      this.#recent = [third, second, first];
      return third;
    }
    const extra = EXTRA_BITS[slot] ?? 0;
    const more = this.#block.kind === ALIGNED && extra >= 3
      ? bits.read(extra - 3) * 8 + this.#alignedCode.read(bits)
      : bits.read(extra);
    const distance = (BASES[slot] ?? 0) + more - 2;
    this.#recent = [distance, first, second];
    return distance;
  }

  #put(frame: Uint8Array, at: number, byte: number): void {
    frame[at] = byte;
    this.#window[this.#at] = byte;
    this.#at = (this.#at + 1) & this.#mask;
  }
}

/** Lengths of words, told as differences to those of the part before. */
function readLengths(bits: BitReader, lengths: Uint8Array, start: number, end: number): void {
  const code = new HuffmanCode(Uint8Array.from({ length: 20 }, () => bits.read(4)));
  for (let at = start; at < end;) {
    if (bits.isPastEnd) throw new RangeError("the block is too short");
    const symbol = code.read(bits);
    const next = (difference: number): number => ((lengths[at] ?? 0) - difference + 17) % 17;
    let count = 1;
    let value = 0;
    if (symbol < 17) value = next(symbol);
    else if (symbol === 17) count = 4 + bits.read(4);
    else if (symbol === 18) count = 20 + bits.read(5);
    else {
      count = 4 + bits.read(1);
      const difference = code.read(bits);
      if (difference > 16) throw new RangeError("a repeated length without one");
      value = next(difference);
    }
    if (at + count > end) throw new RangeError("too many lengths");
    lengths.fill(value, at, at + count);
    at += count;
  }
}

/** Targets of calls were made absolute before they were packed; here they become distances again. */
function translateCalls(frame: Uint8Array, start: number, size: number): Uint8Array {
  const view = new DataView(frame.buffer);
  for (let at = 0; at < frame.length - CALL_TAIL; at++) {
    if (frame[at] !== CALL) continue;
    const target = view.getInt32(at + 1, true);
    const place = start + at;
    if (target >= -place && target < size) {
      view.setInt32(at + 1, target >= 0 ? target - place : target + size, true);
    }
    at += 4;
  }
  return frame;
}
