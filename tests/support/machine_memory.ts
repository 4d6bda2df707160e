/** Physical pages and page tables in every form, for tests. It shares nothing with the readers. */

import { DumpBytes } from "./dump_writer.ts";

/** How the machine pages. */
export type WrittenPaging = "x64" | "x64-5level" | "x86-pae" | "x86" | "arm64";

const PAGE = 4096;
/** Frames are handed out with a gap after every third, so that runs are short and out of step with their frames. */
const FIRST_FRAME = 0x12;

/** Physical memory and the page tables over it. */
export class MachineMemory {
  readonly paging: WrittenPaging;
  readonly pages = new Map<number, DumpBytes>();
  readonly root: number;
  #next = FIRST_FRAME;
  readonly #mapped = new Map<bigint, number>();

  constructor(paging: WrittenPaging) {
    this.paging = paging;
    this.root = this.newPage();
  }

  /** Value for the page table register. */
  get directoryTableBase(): bigint {
    return BigInt(this.root * PAGE) + (this.paging === "x86-pae" ? 0x20n : this.paging === "x64" ? 2n : 0n);
  }

  get bits(): 32 | 64 {
    return this.paging === "x86" || this.paging === "x86-pae" ? 32 : 64;
  }

  /** A new page of zeros; its frame. */
  newPage(): number {
    const frame = this.#next;
    this.#next += frame % 4 === 1 ? 3 : 1;
    this.pages.set(frame, new DumpBytes(PAGE));
    return frame;
  }

  page(frame: number): DumpBytes {
    const page = this.pages.get(frame);
    if (page === undefined) throw new Error(`frame ${frame} is not there`);
    return page;
  }

  /** Writes bytes at a virtual address, mapping pages that are not mapped. */
  put(address: bigint, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const at = address + BigInt(done);
      const inside = Number(at & 0xFFFn);
      const piece = bytes.subarray(done, done + PAGE - inside);
      this.page(this.frameFor(at)).bytes.set(piece, inside);
      done += piece.length;
    }
  }

  /** The frame of an address, newly mapped by a small page when it has none. */
  frameFor(address: bigint): number {
    const page = address >> 12n;
    const known = this.#mapped.get(page);
    if (known !== undefined) return known;
    const frame = this.newPage();
    this.#mapped.set(page, frame);
    this.setEntry(address, this.presentEntry(frame, 1), 1);
    return frame;
  }

  /** An entry that is present, of a small page or, at a higher level, of a large one. */
  presentEntry(frame: number, level: number): bigint {
    const address = BigInt(frame) << 12n;
    if (this.paging === "arm64") return address | (level === 1 ? 0x403n : 0x401n);
    return address | 0x63n | (level > 1 ? 0x80n : 0n);
  }

  /** Writes the entry of an address into the table of a level, making the tables above it. */
  setEntry(address: bigint, entry: bigint, level: number): void {
    if (this.paging === "x86") return this.#setNarrow(address, entry, level);
    const levels = this.paging === "x64-5level" ? 5 : this.paging === "x86-pae" ? 3 : 4;
    let table = this.root;
    for (let at = levels; at > level; at--) {
      const offset = this.#offset(address, at, levels);
      const view = new DataView(this.page(table).bytes.buffer);
      let next = view.getBigUint64(offset, true);
      if (next === 0n) {
        // A pointer table of PAE has no other bits than the first.
        const flags = this.paging === "arm64" ? 3n : this.paging === "x86-pae" && at === 3 ? 1n : 0x63n;
        next = (BigInt(this.newPage()) << 12n) | flags;
        view.setBigUint64(offset, next, true);
      }
      table = Number(BigInt.asUintN(40, next >> 12n));
    }
    this.page(table).u64(this.#offset(address, level, levels), entry);
  }

  #offset(address: bigint, level: number, levels: number): number {
    const index = Number((address >> BigInt(12 + 9 * (level - 1))) & 0x1FFn);
    if (this.paging === "x86-pae" && level === levels) return 0x20 + (index & 3) * 8;
    return index * 8;
  }

  #setNarrow(address: bigint, entry: bigint, level: number): void {
    const upper = Number((address >> 22n) & 0x3FFn) * 4;
    if (level === 2) {
      this.page(this.root).u32(upper, Number(entry));
      return;
    }
    const view = new DataView(this.page(this.root).bytes.buffer);
    if (view.getUint32(upper, true) === 0) view.setUint32(upper, this.newPage() * PAGE + 0x63, true);
    const table = view.getUint32(upper, true) >>> 12;
    this.page(table).u32(Number((address >> 12n) & 0x3FFn) * 4, Number(entry));
  }

  /** Frames in ascending order, as runs of (first, count). */
  runs(): [bigint, bigint][] {
    const runs: [bigint, bigint][] = [];
    for (const frame of [...this.pages.keys()].sort((a, b) => a - b)) {
      const last = runs.at(-1);
      if (last !== undefined && last[0] + last[1] === BigInt(frame)) last[1]++;
      else runs.push([BigInt(frame), 1n]);
    }
    return runs;
  }

  /** The pages in the order of their frames. */
  body(): Uint8Array<ArrayBuffer> {
    const frames = [...this.pages.keys()].sort((a, b) => a - b);
    const body = new Uint8Array(frames.length * PAGE);
    frames.forEach((frame, index) => body.set(this.page(frame).bytes, index * PAGE));
    return body;
  }
}
