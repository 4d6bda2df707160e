/** Reading tar archives as they come: ustar, with the longer names of GNU and of POSIX.1-2001. Nothing in them is trusted. */

import { HvError } from "./errors.ts";
import { TAR_BLOCK } from "./tar.ts";

/** What an entry is; `hard_link` is another name of an entry before it. */
export type ReadKind = "file" | "folder" | "link" | "hard_link" | "other";

/** One entry as the archive has it: the path is not checked. */
export interface ReadEntry {
  path: string;
  /** Whether the path's bytes are UTF-8; else U+FFFD stands in it. */
  readable: boolean;
  kind: ReadKind;
  size_bytes: number;
  mode: number;
  modified_s: number;
  target: string;
}

/** Who takes what is read. Only files have content; its bytes are valid until the call returns. */
export interface TarTaker {
  begin(entry: ReadEntry): Promise<void>;
  content(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

const KINDS: Readonly<Record<string, ReadKind>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hard_link",
  "2": "link",
  "5": "folder",
};
/** Of names and of records about the next entry. */
const TEXT_LIMIT = 64 * 1024;

/** Takes an archive in pieces of any size. Throws `hv.bad_image`, with the offset, for what is none. */
export class TarReader {
  readonly #taker: TarTaker;
  readonly #header = new Uint8Array(TAR_BLOCK);
  #filled = 0;
  #offset = 0;
  /** Bytes of the content that are still to come, and of the zeros behind it. */
  #left = 0;
  #padding = 0;
  #entry: ReadEntry | undefined;
  /** What is gathered for the next entry. */
  #text: { type: string; bytes: Uint8Array; filled: number } | undefined;
  #next: Partial<Pick<ReadEntry, "path" | "readable" | "target" | "size_bytes" | "modified_s">> = {};
  #zeroBlocks = 0;

  constructor(taker: TarTaker) {
    this.#taker = taker;
  }

  async push(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#take(bytes.subarray(at));
    }
    this.#offset += bytes.length;
  }

  /** Throws unless the archive has come to its end. */
  finish(): void {
    if (this.#zeroBlocks > 0 && this.#filled === 0) return;
    throw bad("The archive ends before its end", this.#offset);
  }

  /** Takes some of the bytes and answers how many. */
  async #take(bytes: Uint8Array): Promise<number> {
    if (this.#left > 0) {
      const part = bytes.subarray(0, this.#left);
      this.#left -= part.length;
      if (this.#text !== undefined) this.#gather(part);
      else if (this.#entry?.kind === "file") await this.#taker.content(part);
      if (this.#left === 0) await this.#endContent();
      return part.length;
    }
    if (this.#padding > 0) {
      const count = Math.min(this.#padding, bytes.length);
      this.#padding -= count;
      return count;
    }
    const part = bytes.subarray(0, TAR_BLOCK - this.#filled);
    this.#header.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === TAR_BLOCK) {
      this.#filled = 0;
      await this.#readHeader();
    }
    return part.length;
  }

  async #readHeader(): Promise<void> {
    const header = this.#header;
    if (header.every((byte) => byte === 0)) {
      this.#zeroBlocks++;
      return;
    }
    if (this.#zeroBlocks > 0) throw bad("Something stands behind the archive's end", this.#offset);
    const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
    if (this.#number(148, 8) !== sum) throw bad("A header's checksum is wrong", this.#offset);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = this.#next.size_bytes ?? this.#number(124, 12);
    if (type === "L" || type === "K" || type === "x" || type === "g") {
      if (size > TEXT_LIMIT) throw bad(`A name has ${size} bytes`, this.#offset);
      this.#text = { type, bytes: new Uint8Array(size), filled: 0 };
    } else {
      const { text: name, readable } = this.#name();
      const kind = KINDS[type] ?? "other";
      const entry: ReadEntry = {
        path: name,
        readable,
        kind: kind === "file" && name.endsWith("/") ? "folder" : kind,
        mode: this.#number(100, 8) & 0o7777,
        modified_s: this.#number(136, 12),
        target: decode(cut(header.subarray(157, 257))).text,
        ...this.#next,
        size_bytes: size,
      };
      this.#next = {};
      this.#entry = entry;
      await this.#taker.begin(entry);
    }
    this.#left = size;
    this.#padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
    if (size === 0) await this.#endContent();
  }

  async #endContent(): Promise<void> {
    const gathered = this.#text;
    if (gathered === undefined) {
      this.#entry = undefined;
      return await this.#taker.end();
    }
    this.#text = undefined;
    if (gathered.type === "L") {
      const { text, readable } = decode(cut(gathered.bytes));
      this.#next = { ...this.#next, path: text, readable };
    } else if (gathered.type === "K") {
      this.#next = { ...this.#next, target: decode(cut(gathered.bytes)).text };
    } else if (gathered.type === "x") this.#readRecords(gathered.bytes);
  }

  #gather(part: Uint8Array): void {
    this.#text?.bytes.set(part, this.#text.filled);
    if (this.#text !== undefined) this.#text.filled += part.length;
  }

  /** Records `LENGTH NAME=VALUE\n` of POSIX.1-2001; the length counts the whole record. */
  #readRecords(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const space = bytes.indexOf(0x20, at);
      const length = space < 0 ? NaN : Number(decode(bytes.subarray(at, space)).text);
      if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length) {
        throw bad("A record about an entry is broken", this.#offset);
      }
      const { text, readable } = decode(bytes.subarray(space + 1, at + length - 1));
      const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      if (name === "path") this.#next = { ...this.#next, path: value, readable };
      if (name === "linkpath") this.#next = { ...this.#next, target: value };
      if (name === "size") this.#next = { ...this.#next, size_bytes: this.#sizeOf(value) };
      if (name === "mtime" && Number.isFinite(Number(value))) {
        this.#next = { ...this.#next, modified_s: Number(value) };
      }
      at += length;
    }
  }

  #sizeOf(text: string): number {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw bad(`A size is "${text.slice(0, 40)}"`, this.#offset);
  }

  #name(): { text: string; readable: boolean } {
    const header = this.#header;
    const name = cut(header.subarray(0, 100));
    const isPosix = decode(header.subarray(257, 263)).text === "ustar\0";
    const prefix = isPosix ? cut(header.subarray(345, 500)) : new Uint8Array(0);
    if (prefix.length === 0) return decode(name);
    return decode(Uint8Array.from([...prefix, 0x2f, ...name]));
  }

  #number(at: number, length: number): number {
    const field = this.#header.subarray(at, at + length);
    if (((field[0] ?? 0) & 0x80) !== 0) {
      const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, 0);
      if (Number.isSafeInteger(value)) return value;
    } else {
      const text = decode(field).text.replace(/[\0 ]+$/, "").trim();
      if (/^[0-7]*$/.test(text)) return text === "" ? 0 : parseInt(text, 8);
    }
    throw bad("A number in a header is none", this.#offset);
  }
}

function cut(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

function decode(bytes: Uint8Array): { text: string; readable: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), readable: true };
  } catch {
    return { text: new TextDecoder().decode(bytes), readable: false };
  }
}

function bad(message: string, offset: number): HvError {
  return new HvError("hv.bad_image", message, {
    hint: "What sent it is damaged, or lies",
    context: { offset },
  });
}
