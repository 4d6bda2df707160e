/** Keeping the head and the tail of a stream of any length in bounded memory. */

import { joinBytes } from "./byte_search.ts";

/** A kept stream as text, with what is missing stated. */
export interface BoundedText {
  /** Head and tail, with a line between them that says how much is missing there. */
  text: string;
  /** The kept bytes, head then tail, when they are not UTF-8. The text then shows U+FFFD in their place. */
  base64?: string;
  /** Bytes of the whole stream. */
  total: number;
  /** Bytes of the stream that are not kept. */
  dropped: number;
}

/** Takes bytes as they come; holds at most `head` of the first and `tail` of the last ones. */
export class BoundedBytes {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Uint8Array[] = [];
  #headLength = 0;
  /** Filled in a ring once it is full. */
  #tail: Uint8Array = new Uint8Array(0);
  #tailLength = 0;
  #tailNext = 0;
  #total = 0;

  constructor(limits: { head: number; tail: number }) {
    this.#headLimit = limits.head;
    this.#tailLimit = limits.tail;
  }

  /** Adds bytes; they are copied, so the caller may use the buffer again. */
  push(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const room = Math.min(bytes.length, this.#headLimit - this.#headLength);
    if (room > 0) {
      this.#head.push(bytes.slice(0, room));
      this.#headLength += room;
    }
    this.#pushTail(bytes.subarray(Math.max(0, room)));
  }

  get total(): number {
    return this.#total;
  }

  /** The first bytes, and the last ones that are not among them. */
  parts(): { head: Uint8Array; tail: Uint8Array; dropped: number } {
    const head = new Uint8Array(this.#headLength);
    let at = 0;
    for (const part of this.#head) {
      head.set(part, at);
      at += part.length;
    }
    const tail = new Uint8Array(this.#tailLength);
    const start = this.#tailLength < this.#tailLimit ? 0 : this.#tailNext;
    tail.set(this.#tail.subarray(start, this.#tailLength));
    tail.set(this.#tail.subarray(0, start), this.#tailLength - start);
    return { head, tail, dropped: this.#total - head.length - tail.length };
  }

  /** The kept bytes as text. Where something is missing, UTF-8 is cut at the border of a character. */
  toText(): BoundedText {
    const parts = this.parts();
    if (parts.dropped === 0) return wholeText(joinBytes(parts.head, parts.tail));
    const head = parts.head.subarray(0, parts.head.length - unfinishedBytes(parts.head));
    const tail = parts.tail.subarray(continuationBytes(parts.tail));
    if (isUtf8(head) && isUtf8(tail)) {
      const dropped = this.#total - head.length - tail.length;
      return { text: decode(head) + gap(dropped) + decode(tail), total: this.#total, dropped };
    }
    return {
      text: decode(parts.head) + gap(parts.dropped) + decode(parts.tail),
      base64: joinBytes(parts.head, parts.tail).toBase64(),
      total: this.#total,
      dropped: parts.dropped,
    };
  }

  #pushTail(bytes: Uint8Array): void {
    const last = bytes.subarray(Math.max(0, bytes.length - this.#tailLimit));
    this.#growTail(this.#tailLength + last.length);
    for (let at = 0; at < last.length;) {
      const run = Math.min(last.length - at, this.#tailLimit - this.#tailNext);
      this.#tail.set(last.subarray(at, at + run), this.#tailNext);
      at += run;
      this.#tailNext = (this.#tailNext + run) % this.#tailLimit;
    }
    this.#tailLength = Math.min(this.#tailLimit, this.#tailLength + last.length);
  }

  #growTail(wanted: number): void {
    if (wanted <= this.#tail.length || this.#tail.length === this.#tailLimit) return;
    const grown = new Uint8Array(Math.min(this.#tailLimit, Math.max(wanted, 2 * this.#tail.length)));
    grown.set(this.#tail);
    this.#tail = grown;
  }
}

function wholeText(bytes: Uint8Array): BoundedText {
  const faithful = isUtf8(bytes);
  return {
    text: decode(bytes),
    ...(faithful ? {} : { base64: bytes.toBase64() }),
    total: bytes.length,
    dropped: 0,
  };
}

function gap(dropped: number): string {
  return `\n[... ${dropped} bytes are missing here ...]\n`;
}

/** A byte order mark is a character like any other: the text must give the bytes back. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Bytes at the end that begin a character and do not finish it. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Bytes at the beginning that belong to a character which began before. */
function continuationBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}

function lengthOf(leadByte: number): number {
  if (leadByte >= 0xf0) return 4;
  return leadByte >= 0xe0 ? 3 : 2;
}
