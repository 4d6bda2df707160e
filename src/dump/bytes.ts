/**
 * The floor under every dump parser: a synchronous source of bytes, and a reader that cannot run past its end.
 *
 * A reader fails only with `hv.bad_dump` (reason `truncated` or `read_limit`, with `offset`, `expected` and
 * `found` in the context); what the source itself throws, such as `hv.io`, passes through.
 */

import { HvError } from "../base/errors.ts";
import { hex } from "./numbers.ts";
import { badDump } from "./reasons.ts";
import { decodeUtf16, fieldText, MAXIMUM_TEXT_UNITS } from "./text.ts";

/** Bytes at positions: a file, a piece of memory, a piece of another source. */
export interface ByteSource {
  /** Size in bytes; positions are below 2^53. */
  readonly size: number;
  /**
   * Bytes from `offset`; fewer than `length` only when the end comes first (none at or beyond it).
   * The array may be a view of something shared, so callers do not write to it; the source never changes
   * or reuses what it gave.
   */
  read(offset: number, length: number): Uint8Array;
}

/** One read never asks for more than this, whatever a file claims: the largest bitmap that is accepted. */
export const MAXIMUM_READ_BYTES = 128 * 1024 * 1024;

/** Size of the piece that a reader keeps; a dump header of the largest kind is exactly this long. */
export const WINDOW_BYTES = 8192;

/** Bytes that are in memory already. */
export class MemorySource implements ByteSource {
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  read(offset: number, length: number): Uint8Array {
    if (offset < 0 || length <= 0) return new Uint8Array(0);
    return this.#bytes.subarray(offset, offset + length);
  }
}

/** A range of another source as a source of its own, cut where the other one ends. */
export class SliceSource implements ByteSource {
  readonly size: number;
  readonly #source: ByteSource;
  readonly #start: number;

  constructor(source: ByteSource, start: number, length: number = source.size - start) {
    this.#source = source;
    this.#start = Math.min(Math.max(0, start), source.size);
    this.size = Math.max(0, Math.min(length, source.size - this.#start));
  }

  read(offset: number, length: number): Uint8Array {
    if (offset < 0 || offset >= this.size || length <= 0) return new Uint8Array(0);
    return this.#source.read(this.#start + offset, Math.min(length, this.size - offset));
  }
}

/** How a reader behaves; the defaults suit Windows formats. */
export interface ByteReaderOptions {
  /** What is being read, as it appears in messages: `crash dump`, `symbol file`. */
  what?: string;
  /** Byte order of numbers: little unless this is set. */
  bigEndian?: boolean;
}

/**
 * Reads numbers and text at absolute offsets. It keeps one aligned window of {@link WINDOW_BYTES}, so that
 * reading the fields of one structure costs one read of the source.
 */
export class ByteReader {
  readonly size: number;
  readonly #source: ByteSource;
  readonly #what: string;
  readonly #littleEndian: boolean;
  #view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0));
  #start = 0;
  #end = 0;

  constructor(source: ByteSource, options: ByteReaderOptions = {}) {
    this.#source = source;
    this.size = source.size;
    this.#what = options.what ?? "crash dump";
    this.#littleEndian = options.bigEndian !== true;
  }

  /** Whether the whole range lies inside the source; false for negative, fractional or unsafe positions. */
  has(offset: number, length: number): boolean {
    return Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0 &&
      offset <= this.size && length <= this.size - offset;
  }

  u8(offset: number, field: string): number {
    const at = this.#locate(offset, 1, field);
    return this.#view.getUint8(at);
  }

  u16(offset: number, field: string): number {
    const at = this.#locate(offset, 2, field);
    return this.#view.getUint16(at, this.#littleEndian);
  }

  u32(offset: number, field: string): number {
    const at = this.#locate(offset, 4, field);
    return this.#view.getUint32(at, this.#littleEndian);
  }

  i32(offset: number, field: string): number {
    const at = this.#locate(offset, 4, field);
    return this.#view.getInt32(at, this.#littleEndian);
  }

  u64(offset: number, field: string): bigint {
    const at = this.#locate(offset, 8, field);
    return this.#view.getBigUint64(at, this.#littleEndian);
  }

  /** Exactly `length` bytes: a view that stays valid, not to be written to. */
  bytes(offset: number, length: number, field: string): Uint8Array {
    if (length > MAXIMUM_READ_BYTES) {
      throw badDump(
        "read_limit",
        `Cannot read ${field} of the ${this.#what} at ${hex(offset)}: it claims ${length} bytes, ` +
          `at most ${MAXIMUM_READ_BYTES} are read at once`,
        { offset, expected: length, found: MAXIMUM_READ_BYTES, field },
      );
    }
    if (!this.has(offset, length)) throw this.#cut(offset, length, field);
    if (length <= WINDOW_BYTES) {
      const at = this.#locate(offset, length, field);
      return new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, length);
    }
    const bytes = this.#source.read(offset, length);
    if (bytes.length < length) throw this.#cut(offset, length, field, bytes.length);
    return bytes;
  }

  /**
   * Text of single bytes up to a NUL or `length` bytes. Bytes above 0x7E and controls are shown as `\xNN`;
   * cut at `cap` characters.
   */
  ascii(offset: number, length: number, field: string, cap: number = MAXIMUM_TEXT_UNITS): string {
    const bytes = this.bytes(offset, Math.min(length, cap + 1, this.#left(offset)), field);
    let text = "";
    for (const byte of bytes) {
      if (byte === 0) break;
      text += byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`;
    }
    return fieldText(text, cap);
  }

  /** UTF-16LE text up to a NUL or `length` bytes, invisible characters shown; cut at `cap` units. */
  utf16(offset: number, length: number, field: string, cap: number = MAXIMUM_TEXT_UNITS): string {
    const wanted = Math.min(length - length % 2, (cap + 1) * 2, this.#left(offset) & ~1);
    const bytes = this.bytes(offset, Math.max(0, wanted), field);
    return fieldText(decodeUtf16(bytes), cap);
  }

  #left(offset: number): number {
    return this.has(offset, 0) ? this.size - offset : 0;
  }

  /** Position of a range of at most a window's length inside the window, loading it when it is not there. */
  #locate(offset: number, length: number, field: string): number {
    if (offset >= this.#start && offset + length <= this.#end) return offset - this.#start;
    if (!this.has(offset, length)) throw this.#cut(offset, length, field);
    const aligned = offset - offset % WINDOW_BYTES;
    const start = offset + length <= aligned + WINDOW_BYTES ? aligned : offset;
    const bytes = this.#source.read(start, WINDOW_BYTES);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#start = start;
    this.#end = start + bytes.byteLength;
    if (offset + length > this.#end) throw this.#cut(offset, length, field, this.#end - offset);
    return offset - start;
  }

  #cut(offset: number, length: number, field: string, found: number = this.#left(offset)): HvError {
    const there = Math.max(0, Math.min(found, length));
    return badDump(
      "truncated",
      `Cannot read ${field} of the ${this.#what} at ${hex(offset)}: ${length} bytes wanted, ${there} there`,
      { offset, expected: length, found: there, size: this.size, field },
    );
  }
}
