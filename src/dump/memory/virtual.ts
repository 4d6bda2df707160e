/** Memory by virtual address, whatever a dump keeps of it: page tables over physical pages, or captured blocks. */

import { MAXIMUM_READ_BYTES } from "../bytes.ts";
import { decodeUtf16, fieldText, MAXIMUM_TEXT_UNITS } from "../text.ts";
import { type Absence, isAbsence } from "./absence.ts";

/** Where an address lies. */
export interface Place {
  /** Physical address; null where the dump keeps blocks of virtual memory. */
  readonly physical: bigint | null;
  /** Position in the file; null when the page is not in it. */
  readonly fileOffset: number | null;
  /** How it was found. */
  readonly through: "page" | "large_page" | "transition" | "prototype" | "block";
}

/** One step of a read: bytes from the address on, or a reason and how many bytes it holds for (at least one). */
export type Segment =
  | { readonly bytes: Uint8Array }
  | { readonly bytes: null; readonly absence: Absence; readonly length: number };

/** A piece of a longer read. */
export type MemoryPart = Segment & { readonly address: bigint };

/**
 * Memory by virtual address. Addresses are taken modulo 2^bits, so sign-extended 32-bit addresses are fine. Arrays
 * that come back may be views of shared pages: callers do not write to them. Nothing here fails for what is missing
 * or damaged; only the source's own failures (`hv.io`) pass through.
 */
export abstract class VirtualMemory {
  /** Width of an address. */
  abstract readonly bits: 32 | 64;

  /**
   * At least one and at most `length` bytes from `address` on, or why there are none. `address` is normalized and
   * `length` is at least 1 and does not reach beyond the top of the address space.
   */
  protected abstract segmentAt(address: bigint, length: number): Segment;

  /** Where an address lies, or why it lies nowhere. */
  abstract translate(address: bigint): Place | Absence;

  /** As many bytes as come in one piece, or why there are none and for how many bytes that holds. */
  segment(address: bigint, length: number): Segment {
    const start = BigInt.asUintN(this.bits, address);
    const room = (1n << BigInt(this.bits)) - start;
    return this.segmentAt(start, room < BigInt(length) ? Number(room) : Math.max(1, length));
  }

  /** Exactly `length` bytes, or undefined when any of them is missing. At most 128 MiB. */
  read(address: bigint, length: number): Uint8Array | undefined {
    if (length <= 0) return new Uint8Array(0);
    if (length > MAXIMUM_READ_BYTES) return undefined;
    const first = this.segment(address, length);
    if (first.bytes === null) return undefined;
    if (first.bytes.length === length) return first.bytes;
    const { bytes } = this.readUpTo(address, length);
    return bytes.length === length ? bytes : undefined;
  }

  /** The bytes from `address` on up to the first missing one; `absence` says why they end before `length`. */
  readUpTo(address: bigint, length: number): { bytes: Uint8Array; absence: Absence | null } {
    const pieces: Uint8Array[] = [];
    const wanted = Math.min(length, MAXIMUM_READ_BYTES);
    let done = 0;
    let absence: Absence | null = null;
    while (done < wanted) {
      const next = BigInt.asUintN(this.bits, address) + BigInt(done);
      if (next >> BigInt(this.bits) !== 0n) {
        absence = { why: "not_canonical" };
        break;
      }
      const segment = this.segment(next, wanted - done);
      if (segment.bytes === null) {
        absence = segment.absence;
        break;
      }
      pieces.push(segment.bytes);
      done += segment.bytes.length;
    }
    return { bytes: joinPieces(pieces, done), absence };
  }

  /** The whole range as pieces that are there and pieces that are not, in order and without gaps. */
  readParts(address: bigint, length: number): MemoryPart[] {
    const parts: MemoryPart[] = [];
    const wanted = Math.min(length, MAXIMUM_READ_BYTES);
    for (let done = 0; done < wanted;) {
      const next = BigInt.asUintN(this.bits, address) + BigInt(done);
      if (next >> BigInt(this.bits) !== 0n) break;
      const segment = this.segment(next, wanted - done);
      parts.push({ ...segment, address: next });
      done += segment.bytes === null ? segment.length : segment.bytes.length;
    }
    return parts;
  }

  /** Whether the byte is there. */
  has(address: bigint): boolean {
    return this.segment(address, 1).bytes !== null;
  }

  u8(address: bigint): number | undefined {
    return this.read(address, 1)?.[0];
  }

  u16(address: bigint): number | undefined {
    return this.#view(address, 2)?.getUint16(0, true);
  }

  u32(address: bigint): number | undefined {
    return this.#view(address, 4)?.getUint32(0, true);
  }

  u64(address: bigint): bigint | undefined {
    return this.#view(address, 8)?.getBigUint64(0, true);
  }

  /** An address of this machine's width, unsigned. */
  pointer(address: bigint): bigint | undefined {
    if (this.bits === 64) return this.u64(address);
    const low = this.u32(address);
    return low === undefined ? undefined : BigInt(low);
  }

  /** Text of single bytes up to a NUL, a missing byte or `cap` characters, made safe to show; undefined when nothing is there. */
  ascii(address: bigint, cap: number = MAXIMUM_TEXT_UNITS): string | undefined {
    const { bytes, absence } = this.readUpTo(address, cap);
    if (bytes.length === 0 && absence !== null) return undefined;
    const end = bytes.indexOf(0);
    return fieldText(String.fromCharCode(...(end < 0 ? bytes : bytes.subarray(0, end))), cap);
  }

  /** UTF-16LE text of `byteLength` bytes up to a NUL, made safe to show; undefined when any of it is missing. */
  utf16(address: bigint, byteLength: number, cap: number = MAXIMUM_TEXT_UNITS): string | undefined {
    const bytes = this.read(address, Math.min(byteLength & ~1, 2 * (cap + 1)));
    if (bytes === undefined) return undefined;
    return fieldText(decodeUtf16(bytes), cap);
  }

  #view(address: bigint, length: number): DataView | undefined {
    const bytes = this.read(address, length);
    return bytes === undefined ? undefined : new DataView(bytes.buffer, bytes.byteOffset, length);
  }
}

/** Several memories as one: the first that has an address answers for it. */
export class LayeredMemory extends VirtualMemory {
  readonly bits: 32 | 64;
  readonly #layers: readonly VirtualMemory[];

  constructor(bits: 32 | 64, layers: readonly VirtualMemory[]) {
    super();
    this.bits = bits;
    this.#layers = layers;
  }

  protected override segmentAt(address: bigint, length: number): Segment {
    let left = length;
    let first: Absence | null = null;
    for (const layer of this.#layers) {
      const segment = layer.segment(address, left);
      if (segment.bytes !== null) return segment;
      first ??= segment.absence;
      left = Math.min(left, segment.length);
    }
    return { bytes: null, absence: first ?? { why: "not_captured" }, length: left };
  }

  override translate(address: bigint): Place | Absence {
    let first: Absence | null = null;
    for (const layer of this.#layers) {
      const place = layer.translate(address);
      if (!isAbsence(place)) return place;
      first ??= place;
    }
    return first ?? { why: "not_captured" };
  }
}

function joinPieces(pieces: Uint8Array[], size: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const joined = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
