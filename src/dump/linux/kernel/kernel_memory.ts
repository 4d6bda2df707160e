/** The kernel's memory, for readers that cannot go on without what they ask for. */

import { describeAbsence } from "../../memory/absence.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";
import { hex64 } from "../../numbers.ts";
import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";

/** One read never gives more. */
const LARGEST_READ = 64 * 1024 * 1024;

/**
 * Reads by virtual address. Whatever is not there fails with `hv.bad_dump` (`missing_memory`) and says what was wanted,
 * so that a reader of one structure needs no cases; its caller decides what is lost by that.
 */
export class KernelMemory {
  readonly space: VirtualMemory;

  constructor(space: VirtualMemory) {
    this.space = space;
  }

  /** Exactly `length` bytes: a view, not to be written to. */
  bytes(address: bigint, length: number, what: string): Uint8Array {
    if (length < 0 || length > LARGEST_READ) {
      throw badDump("read_limit", `Cannot read ${what}: it claims ${length} bytes`, {
        address: hex64(address),
        expected: length,
        found: LARGEST_READ,
      });
    }
    const bytes = this.space.read(address, length);
    if (bytes !== undefined) return bytes;
    const { absence } = this.space.readUpTo(address, length);
    throw badDump(
      "missing_memory",
      `Cannot read ${what} at ${hex64(address)}: ${
        absence === null ? "it is not there" : describeAbsence(absence)
      }`,
      { address: hex64(address), expected: length },
    );
  }

  view(address: bigint, length: number, what: string): DataView {
    const bytes = this.bytes(address, length, what);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  }

  u32(address: bigint, what: string): number {
    return this.view(address, 4, what).getUint32(0, true);
  }

  i32(address: bigint, what: string): number {
    return this.view(address, 4, what).getInt32(0, true);
  }

  u64(address: bigint, what: string): bigint {
    return this.view(address, 8, what).getBigUint64(0, true);
  }

  /** Text up to a NUL, a missing byte or `cap` characters, made safe to show. */
  text(address: bigint, cap: number, what: string): string {
    return fieldText(this.rawText(address, cap, what), cap);
  }

  /** The same as it stands, for names that are compared. */
  rawText(address: bigint, cap: number, what: string): string {
    const { bytes } = this.space.readUpTo(address, cap);
    if (bytes.length === 0) this.bytes(address, 1, what);
    const end = bytes.indexOf(0);
    return String.fromCharCode(...(end < 0 ? bytes : bytes.subarray(0, end)));
  }

  /**
   * Nodes of a circular list, `head` left out. `complete` tells whether the walk came back to the head: it ends before
   * at a node that was seen, at a pointer to nothing, and after `limit` nodes.
   */
  list(head: bigint, limit: number, what: string): { nodes: bigint[]; complete: boolean } {
    const seen = new Set<bigint>();
    let node = this.u64(head, what);
    while (node !== head) {
      if (seen.has(node) || seen.size >= limit) return { nodes: [...seen], complete: false };
      const next = this.space.u64(node);
      if (next === undefined) return { nodes: [...seen], complete: false };
      seen.add(node);
      node = next;
    }
    return { nodes: [...seen], complete: true };
  }
}
