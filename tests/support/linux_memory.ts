/** Memory of a Linux machine that tests write: pages, and the page tables that lead to them. */

import { DumpBytes } from "./dump_writer.ts";

/** From here on the kernel's image maps physical memory from 0 on. */
export const IMAGE = 0xFFFF_FFFF_8000_0000n;

/** Pages that appear when they are written to. All that is not of the image takes pages from 64 MiB on. */
export class LinuxMemory {
  readonly #pages = new Map<number, DumpBytes>();
  readonly #mapped = new Set<bigint>();
  readonly #root: bigint;
  readonly #imageEnd: bigint;
  #nextFrame = 0x4000;

  /** The highest page table lies at `root`, an address of the image; the image ends at `imageEnd`. */
  constructor(root: bigint, imageEnd: bigint) {
    this.#root = root;
    this.#imageEnd = imageEnd;
  }

  /** Physical address that a virtual one is mapped to, mapping it when it is not. */
  physical(address: bigint): bigint {
    const page = address & ~0xFFFn;
    if (!this.#mapped.has(page)) this.#map(page);
    const entry = this.#entryOf(page);
    return (this.#read(entry) & 0x000F_FFFF_FFFF_F000n) | (address & 0xFFFn);
  }

  /** Writes at a virtual address. */
  put(address: bigint, bytes: Uint8Array): this {
    for (let done = 0; done < bytes.length;) {
      const place = this.physical(address + BigInt(done));
      const inside = Number(place & 0xFFFn);
      const piece = bytes.subarray(done, done + 4096 - inside);
      this.#page(Number(place >> 12n)).bytes.set(piece, inside);
      done += piece.length;
    }
    return this;
  }

  u64(address: bigint, ...values: bigint[]): this {
    return this.put(address, new DumpBytes(8 * values.length).u64(0, ...values).bytes);
  }

  u32(address: bigint, ...values: number[]): this {
    return this.put(address, new DumpBytes(4 * values.length).u32(0, ...values).bytes);
  }

  /** Sets the table entry of the last level, or of `level` above it, for an address. */
  setEntry(address: bigint, level: 1 | 2 | 3 | 4, value: bigint): this {
    this.#write(this.#entryOf(address, level), value);
    return this;
  }

  /** Pages by frame number, ascending. */
  get pages(): [frame: number, bytes: Uint8Array][] {
    return [...this.#pages].map(([frame, { bytes }]): [number, Uint8Array] => [frame, bytes]).sort((
      [a],
      [b],
    ) => a - b);
  }

  #map(page: bigint): void {
    this.#mapped.add(page);
    for (const level of [4, 3, 2] as const) {
      const entry = this.#entryOf(page, level);
      if ((this.#read(entry) & 1n) === 0n) this.#write(entry, (BigInt(this.#nextFrame++) << 12n) | 3n);
    }
    const inImage = page >= IMAGE && page < this.#imageEnd;
    const frame = inImage ? (page - IMAGE) >> 12n : BigInt(this.#nextFrame++);
    this.#write(this.#entryOf(page), (frame << 12n) | 3n);
    this.#page(Number(frame));
  }

  /** Physical address of a table entry. */
  #entryOf(address: bigint, level: 1 | 2 | 3 | 4 = 1): bigint {
    let table = this.#root - IMAGE;
    for (let at = 4;; at--) {
      const entry = table + ((address >> BigInt(12 + 9 * (at - 1))) & 511n) * 8n;
      if (at === level) return entry;
      table = this.#read(entry) & 0x000F_FFFF_FFFF_F000n;
    }
  }

  #read(physical: bigint): bigint {
    const { bytes } = this.#page(Number(physical >> 12n));
    return new DataView(bytes.buffer).getBigUint64(Number(physical & 0xFFFn), true);
  }

  #write(physical: bigint, value: bigint): void {
    this.#page(Number(physical >> 12n)).u64(Number(physical & 0xFFFn), value);
  }

  #page(frame: number): DumpBytes {
    const page = this.#pages.get(frame) ?? new DumpBytes(4096);
    this.#pages.set(frame, page);
    return page;
  }
}
