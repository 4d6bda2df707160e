/** ARM64's page tables of each granule and width, written here by the shifts that the architecture's manual lists. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { isAbsence } from "../../../../src/dump/memory/absence.ts";
import { type ArmGeometry, GranuleTables } from "../../../../src/dump/memory/granule_tables.ts";
import type { PhysicalMemory } from "../../../../src/dump/memory/physical.ts";
import { readAcrossFrames } from "../../../../src/dump/linux/containers/pages.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";

/** A way of paging: what the kernel states of it, and what each level of its tables resolves, the root first. */
interface Paging {
  readonly geometry: ArmGeometry;
  readonly levels: readonly (readonly [shift: number, bits: number])[];
  /** Where an entry keeps the bits of a physical address above 47: from which bit of the address, at which bit of it. */
  readonly wide?: readonly [from: number, at: number, mask: number];
}

const SMALL_WIDE = [50, 8, 3] as const;
const LARGE_WIDE = [48, 12, 15] as const;
const PAGINGS: Readonly<Record<string, Paging>> = {
  "4 KiB, 39 bits": {
    geometry: { pageShift: 12, builtBits: 39, addressBits: 39 },
    levels: [[30, 9], [21, 9], [12, 9]],
  },
  "4 KiB, 48 bits": {
    geometry: { pageShift: 12, builtBits: 48, addressBits: 48 },
    levels: [[39, 9], [30, 9], [21, 9], [12, 9]],
  },
  "4 KiB, 52 bits": {
    geometry: { pageShift: 12, builtBits: 52, addressBits: 52 },
    levels: [[48, 4], [39, 9], [30, 9], [21, 9], [12, 9]],
    wide: SMALL_WIDE,
  },
  "4 KiB, built for 52 bits on a processor with 48": {
    geometry: { pageShift: 12, builtBits: 52, addressBits: 48 },
    levels: [[39, 9], [30, 9], [21, 9], [12, 9]],
  },
  "16 KiB, 47 bits": {
    geometry: { pageShift: 14, builtBits: 47, addressBits: 47 },
    levels: [[36, 11], [25, 11], [14, 11]],
  },
  "16 KiB, 48 bits": {
    geometry: { pageShift: 14, builtBits: 48, addressBits: 48 },
    levels: [[47, 1], [36, 11], [25, 11], [14, 11]],
  },
  "16 KiB, 52 bits": {
    geometry: { pageShift: 14, builtBits: 52, addressBits: 52 },
    levels: [[47, 5], [36, 11], [25, 11], [14, 11]],
    wide: SMALL_WIDE,
  },
  "64 KiB, 42 bits": {
    geometry: { pageShift: 16, builtBits: 42, addressBits: 42 },
    levels: [[29, 13], [16, 13]],
  },
  "64 KiB, 48 bits": {
    geometry: { pageShift: 16, builtBits: 48, addressBits: 48 },
    levels: [[42, 6], [29, 13], [16, 13]],
    wide: LARGE_WIDE,
  },
  "64 KiB, 52 bits": {
    geometry: { pageShift: 16, builtBits: 52, addressBits: 52 },
    levels: [[42, 10], [29, 13], [16, 13]],
    wide: LARGE_WIDE,
  },
  // The processor begins in the middle of the root, which the kernel lays out for the wider addresses.
  "64 KiB, built for 52 bits on a processor with 48": {
    geometry: { pageShift: 16, builtBits: 52, addressBits: 48 },
    levels: [[42, 10], [29, 13], [16, 13]],
    wide: LARGE_WIDE,
  },
};

const ROOT = 0x4000_0000n;
const ATTRIBUTES = 0x0078_0000_0000_0700n;

/** Physical memory in which tables appear as addresses are mapped. */
class ArmTablesWriter implements PhysicalMemory {
  readonly #frames = new Map<number, DumpBytes>();
  readonly #paging: Paging;
  #next = ROOT + 0x10_0000n;

  constructor(paging: Paging) {
    this.#paging = paging;
  }

  get pageCount(): number {
    return this.#frames.size;
  }

  /** Maps an address to a physical one by a page, or by a block at a level above the last. */
  map(address: bigint, physical: bigint, level = this.#paging.levels.length - 1): void {
    const { levels, wide, geometry } = this.#paging;
    let table = ROOT;
    for (const [index, [shift, bits]] of levels.entries()) {
      const entry = table + 8n * ((address >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
      if (index === level) {
        const high = wide === undefined
          ? 0n
          : ((physical >> BigInt(wide[0])) & BigInt(wide[2])) << BigInt(wide[1]);
        const isLast = index === levels.length - 1;
        // Without wide addresses bits 8 and 9 are attributes, which are no part of the address.
        const attributes = wide === undefined ? ATTRIBUTES : ATTRIBUTES & ~0x300n;
        const low = physical & ~((1n << BigInt(geometry.pageShift)) - 1n) & 0xFFFF_FFFF_F000n;
        this.write(entry, low | high | attributes | (isLast ? 3n : 1n));
        return;
      }
      if ((this.#word(entry) & 1n) === 0n) {
        this.write(entry, this.#next | 3n);
        this.#next += 0x1_0000n;
      }
      table = this.#word(entry) & 0xFFFF_FFFF_F000n;
    }
  }

  write(address: bigint, value: bigint): void {
    const frame = Number(address >> 12n);
    const bytes = this.#frames.get(frame) ?? new DumpBytes(4096);
    this.#frames.set(frame, bytes);
    bytes.u64(Number(address & 0xFFFn), value);
  }

  page(frame: number) {
    return this.#frames.get(frame)?.bytes ??
      (this.#isTable(frame) ? EMPTY : { why: "not_in_dump", frame } as const);
  }

  fileOffsetOf(): null {
    return null;
  }

  read(address: bigint, length: number) {
    return readAcrossFrames(this, address, length);
  }

  #isTable(frame: number): boolean {
    return frame >= Number(ROOT >> 12n) && frame < Number((ROOT + 0x100_0000n) >> 12n);
  }

  #word(address: bigint): bigint {
    const bytes = this.#frames.get(Number(address >> 12n))?.bytes;
    return bytes === undefined ? 0n : new DataView(bytes.buffer).getBigUint64(Number(address & 0xFF8n), true);
  }
}

const EMPTY = new Uint8Array(4096);

function topOf({ geometry }: Paging): bigint {
  return 2n ** 64n - 2n ** BigInt(geometry.addressBits);
}

function find(tables: GranuleTables, address: bigint): string {
  const place = tables.find(Number(address >> 12n));
  return isAbsence(place) ? place.why : `0x${place.frame.toString(16)} ${place.through}`;
}

for (const [name, paging] of Object.entries(PAGINGS)) {
  const { geometry, levels, wide } = paging;
  const granule = 1n << BigInt(geometry.pageShift);

  Deno.test(`ARM64 pages of ${name} are found at their addresses and nowhere else`, () => {
    const top = topOf(paging);
    const writer = new ArmTablesWriter(paging);
    const high = wide === undefined ? 0n : 1n << BigInt(wide[0]);
    const physical = 0x1_2340_0000n | high;
    const addresses = [
      top,
      top + 37n * granule,
      2n ** 64n - granule,
      top + (2n ** BigInt(geometry.addressBits - 1)),
    ];
    for (const [index, address] of addresses.entries()) {
      writer.map(address, physical + BigInt(index) * granule);
    }
    const tables = new GranuleTables(writer, ROOT, geometry);
    for (const [index, address] of addresses.entries()) {
      for (const inside of [0n, granule - 4096n]) {
        const frame = (physical + BigInt(index) * granule + inside) >> 12n;
        assert.equal(find(tables, address + inside), `0x${frame.toString(16)} page`);
      }
    }
    assert.equal(find(tables, top + 38n * granule), "not_mapped");
    assert.equal(find(tables, top - 4096n), "not_canonical");
    assert.equal(find(tables, 0x40_0000n), "not_canonical");
  });

  Deno.test(`an ARM64 block above the pages of ${name} is found by its part`, () => {
    const writer = new ArmTablesWriter(paging);
    const level = levels.length - 2;
    const [shift] = levels[level] ?? [0, 0];
    const block = 1n << BigInt(shift);
    const address = topOf(paging) + 5n * block;
    writer.map(address, 0n, level);
    const tables = new GranuleTables(writer, ROOT, geometry);
    assert.equal(find(tables, address), "0x0 large_page");
    assert.equal(
      find(tables, address + block - 4096n),
      `0x${((block - 4096n) >> 12n).toString(16)} large_page`,
    );
    assert.equal(find(tables, address + block), "not_mapped");
  });
}

Deno.test("the last level of ARM64 has no blocks, and the first no blocks larger than memory", () => {
  const paging = PAGINGS["4 KiB, 52 bits"] ?? assert.fail();
  const writer = new ArmTablesWriter(paging);
  const top = topOf(paging);
  writer.map(top, 0n, 0);
  assert.equal(find(new GranuleTables(writer, ROOT, paging.geometry), top), "unknown_entry");
  const narrow = PAGINGS["4 KiB, 39 bits"] ?? assert.fail();
  const pages = new ArmTablesWriter(narrow);
  pages.map(topOf(narrow), 0x5000n);
  const last = ROOT + 0x10_0000n + 0x1_0000n;
  pages.write(last, 0x5001n);
  assert.equal(find(new GranuleTables(pages, ROOT, narrow.geometry), topOf(narrow)), "unknown_entry");
});

Deno.test("ARM64 tables that hold anything, themselves as well, give a frame or a reason", () => {
  const entries = fc.array(
    fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.integer({ min: 0, max: 15 }).map((page) => ROOT + BigInt(page) * 4096n | 3n),
      fc.constant(ROOT | 3n),
    ),
    { minLength: 64, maxLength: 64 },
  );
  const geometries = fc.constantFrom(...Object.values(PAGINGS));
  fc.assert(
    fc.property(geometries, entries, fc.bigInt({ min: 0n, max: 2n ** 52n - 1n }), (paging, words, page) => {
      const writer = new ArmTablesWriter(paging);
      for (let at = 0n; at < 512n; at++) writer.write(ROOT + 8n * at, words[Number(at % 64n)] ?? 0n);
      const tables = new GranuleTables(writer, ROOT, paging.geometry);
      const top = topOf(paging) >> 12n;
      const place = tables.find(Number(top | page));
      if (!isAbsence(place)) assert.ok(Number.isSafeInteger(place.frame) && place.frame >= 0);
    }),
  );
});
