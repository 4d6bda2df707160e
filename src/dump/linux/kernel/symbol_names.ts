/** Names of kernel symbols: each a length and bytes that stand for tokens, the first character its type. */

import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";
import type { KallsymsTables } from "./kallsyms_tables.ts";
import type { KernelMemory } from "./kernel_memory.ts";

const TOKENS = 256;
const LONGEST_TOKEN = 64;
const LONGEST_NAME = 1024;
const STEP_BYTES = 256 * 1024;
const LARGEST_TABLE = 48 * 1024 * 1024;
/** FNV-1a. */
const HASH_START = 0x811C9DC5;
const HASH_FACTOR = 0x01000193;

/** The packed names with a hash of each, so that one is found by name without unpacking all. */
export class SymbolNames {
  readonly count: number;
  readonly #tokens: readonly Uint8Array[];
  readonly #packed: Uint8Array;
  /** Where each name's bytes begin, and how many there are. */
  readonly #starts: Uint32Array;
  readonly #lengths: Uint16Array;
  readonly #hashes: Int32Array;

  constructor(tokens: readonly Uint8Array[], packed: Uint8Array, starts: Uint32Array, lengths: Uint16Array) {
    this.count = starts.length;
    this.#tokens = tokens;
    this.#packed = packed;
    this.#starts = starts;
    this.#lengths = lengths;
    this.#hashes = new Int32Array(this.count);
    for (let index = 0; index < this.count; index++) this.#hashes[index] = this.#hashAt(index);
  }

  /** The name without its type letter, made safe to show. */
  nameAt(index: number): string {
    return fieldText(this.#unpack(index));
  }

  /** Number of the first symbol of that name; -1 when there is none. */
  indexOf(name: string): number {
    const wanted = hashOf(name);
    for (
      let index = this.#hashes.indexOf(wanted);
      index >= 0;
      index = this.#hashes.indexOf(wanted, index + 1)
    ) {
      if (this.#unpack(index) === name) return index;
    }
    return -1;
  }

  #unpack(index: number): string {
    const start = this.#starts[index] ?? 0;
    let text = "";
    for (const code of this.#packed.subarray(start, start + (this.#lengths[index] ?? 0))) {
      text += String.fromCharCode(...(this.#tokens[code] ?? []));
    }
    return text.slice(1);
  }

  #hashAt(index: number): number {
    const start = this.#starts[index] ?? 0;
    const end = start + (this.#lengths[index] ?? 0);
    let hash = HASH_START;
    let skip = 1;
    for (let at = start; at < end; at++) {
      const token = this.#tokens[this.#packed[at] ?? 0];
      if (token === undefined) continue;
      for (let inside = skip; inside < token.length; inside++) {
        hash = Math.imul(hash ^ (token[inside] ?? 0), HASH_FACTOR);
      }
      skip = Math.max(0, skip - token.length);
    }
    return hash;
  }
}

function hashOf(name: string): number {
  let hash = HASH_START;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), HASH_FACTOR);
  return hash | 0;
}

/** Reads tokens and names. Fails with `hv.bad_dump` (`kallsyms`, `missing_memory`). */
export function readSymbolNames(memory: KernelMemory, tables: KallsymsTables, count: number): SymbolNames {
  const tokens = readTokens(memory, tables);
  const starts = new Uint32Array(count);
  const lengths = new Uint16Array(count);
  let packed = new Uint8Array(STEP_BYTES * 8);
  let filled = 0;
  const fill = (wanted: number): void => {
    while (filled < wanted) {
      if (filled + STEP_BYTES > LARGEST_TABLE) throw damaged("the names do not end");
      if (filled + STEP_BYTES > packed.length) packed = larger(packed);
      const { bytes } = memory.space.readUpTo(tables.names + BigInt(filled), STEP_BYTES);
      if (bytes.length === 0) memory.bytes(tables.names + BigInt(filled), 1, "names of kernel symbols");
      packed.set(bytes, filled);
      filled += bytes.length;
    }
  };
  let at = 0;
  for (let symbol = 0; symbol < count; symbol++) {
    fill(at + 2);
    let length = packed[at++] ?? 0;
    // Since Linux 6.1 a set top bit says that a second byte holds the rest of the length.
    if (length >= 0x80) length = (length & 0x7F) | ((packed[at++] ?? 0) << 7);
    if (length === 0 || length > LONGEST_NAME) throw damaged(`name ${symbol} has ${length} bytes`);
    fill(at + length);
    starts[symbol] = at;
    lengths[symbol] = length;
    at += length;
  }
  return new SymbolNames(tokens, packed, starts, lengths);
}

function readTokens(memory: KernelMemory, { tokens, tokenIndex }: KallsymsTables): Uint8Array[] {
  const index = memory.view(tokenIndex, 2 * TOKENS, "the index of symbol tokens");
  const positions = Array.from({ length: TOKENS }, (_, token) => index.getUint16(2 * token, true));
  const last = positions.at(-1) ?? 0;
  if (positions.some((position, token) => token > 0 && position <= (positions[token - 1] ?? 0))) {
    throw damaged("the index of tokens does not ascend");
  }
  const { bytes } = memory.space.readUpTo(tokens, last + LONGEST_TOKEN);
  return positions.map((position, token) => {
    const end = bytes.indexOf(0, position);
    if (end < 0 || end - position > LONGEST_TOKEN) throw damaged(`token ${token} does not end`);
    return bytes.subarray(position, end);
  });
}

function larger(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const doubled = new Uint8Array(bytes.length * 2);
  doubled.set(bytes);
  return doubled;
}

function damaged(what: string): Error {
  return badDump("kallsyms", `The kernel's symbols are damaged: ${what}`);
}
