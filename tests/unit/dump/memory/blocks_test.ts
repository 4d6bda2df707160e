import assert from "node:assert/strict";
import fc from "fast-check";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { BlockMemory } from "../../../../src/dump/memory/blocks.ts";
import { LayeredMemory } from "../../../../src/dump/memory/virtual.ts";

/** A file whose byte at position n is n. */
const FILE = new MemorySource(Uint8Array.from({ length: 256 }, (_, index) => index));

Deno.test("blocks are found wherever they stand in the list, and gaps tell their length", () => {
  const memory = new BlockMemory(FILE, 64, [
    { address: 0xFFFFF80000002000n, size: 16, offset: 32 },
    { address: 0xFFFFF80000001000n, size: 8, offset: 0 },
    { address: 0xFFFFF80000001008n, size: 8, offset: 100 },
  ]);
  assert.deepEqual(memory.read(0xFFFFF80000001006n, 4), Uint8Array.of(6, 7, 100, 101));
  assert.equal(memory.u32(0xFFFFF8000000200Cn), 0x2F2E2D2C);
  assert.deepEqual(memory.segment(0xFFFFF80000001010n, 0x2000), {
    bytes: null,
    absence: { why: "not_captured" },
    length: 0xFF0,
  });
  assert.deepEqual(memory.translate(0xFFFFF80000002003n), {
    physical: null,
    fileOffset: 35,
    through: "block",
  });
  assert.deepEqual(memory.translate(0xFFFFF80000002010n), { why: "not_captured" });
  assert.deepEqual(
    memory.blocksFrom(0xFFFFF80000001008n, 0xFFFFF80000002001n).map(({ offset }) => offset),
    [100, 32],
  );
  assert.deepEqual(memory.blocksFrom(0n, 0n), []);
});

Deno.test("blocks beyond the file are cut or dropped", () => {
  const memory = new BlockMemory(FILE, 64, [
    { address: 0x1000n, size: 1000, offset: 250 },
    { address: 0x3000n, size: 10, offset: 256 },
    { address: 0x4000n, size: 10, offset: -1 },
    { address: 0xFFFFFFFFFFFFFFFEn, size: 10, offset: 0 },
  ]);
  assert.deepEqual(memory.readUpTo(0x1000n, 100), {
    bytes: Uint8Array.of(250, 251, 252, 253, 254, 255),
    absence: { why: "not_captured" },
  });
  assert.equal(memory.has(0x3000n), false);
  assert.equal(memory.has(0x4000n), false);
  assert.deepEqual(memory.readUpTo(0xFFFFFFFFFFFFFFFEn, 10).bytes, Uint8Array.of(0, 1));
});

Deno.test("any blocks read as a byte by byte search reads them", () => {
  const block = fc.record({ address: fc.bigInt(0n, 80n), size: fc.nat(20), offset: fc.nat(270) });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), fc.bigInt(0n, 90n), fc.integer({ min: 1, max: 90 }), (
      blocks,
      address,
      length,
    ) => {
      const memory = new BlockMemory(FILE, 32, blocks);
      // Of overlapping blocks the one that begins first counts; equal beginnings, the first in the list.
      const sorted = blocks.map((each, order) => ({ ...each, order }))
        .sort((a, b) => Number(a.address - b.address) || a.order - b.order);
      const byteAt = (at: bigint): number | undefined => {
        const found = sorted.find((each) =>
          at >= each.address && at < each.address + BigInt(each.size) &&
          each.offset + Number(at - each.address) < FILE.size
        );
        return found === undefined ? undefined : found.offset + Number(at - found.address);
      };
      let done = 0;
      for (const part of memory.readParts(address, length)) {
        const size = part.bytes?.length ?? (part.bytes === null ? part.length : 0);
        for (let index = 0; index < size; index++, done++) {
          assert.equal(part.bytes?.[index], byteAt(address + BigInt(done)), `byte ${done}`);
        }
      }
      assert.equal(done, length);
    }),
  );
});

Deno.test("layers answer in their order, and a gap of the first is filled only as far as it goes", () => {
  const upper = new BlockMemory(FILE, 64, [{ address: 0x1000n, size: 4, offset: 10 }, {
    address: 0x1008n,
    size: 4,
    offset: 50,
  }]);
  const lower = new BlockMemory(FILE, 64, [{ address: 0x1002n, size: 16, offset: 200 }]);
  const both = new LayeredMemory(64, [upper, lower]);
  assert.deepEqual(
    both.read(0x1000n, 0x12),
    Uint8Array.of(10, 11, 12, 13, 202, 203, 204, 205, 50, 51, 52, 53, 210, 211, 212, 213, 214, 215),
    "the upper layer answers wherever it can",
  );
  assert.deepEqual(both.read(0x1008n, 2), Uint8Array.of(50, 51));
  assert.equal(both.has(0x1012n), false);
  assert.deepEqual(both.segment(0x0n, 0x2000), {
    bytes: null,
    absence: { why: "not_captured" },
    length: 0x1000,
  });
  assert.deepEqual(both.translate(0x1005n), { physical: null, fileOffset: 203, through: "block" });
});

Deno.test("text stops at a NUL, at what is missing and at the cap", () => {
  const text = new TextEncoder().encode("name\0rest\x01\x02");
  const source = new MemorySource(text);
  const memory = new BlockMemory(source, 64, [{ address: 0n, size: text.length, offset: 0 }]);
  assert.equal(memory.ascii(0n), "name");
  assert.equal(memory.ascii(5n, 4), "rest");
  assert.match(memory.ascii(5n) ?? "", /^rest./);
  assert.equal(memory.ascii(100n), undefined);
  assert.equal(memory.utf16(100n, 4), undefined);
  const wide = new MemorySource(Uint8Array.of(0x61, 0, 0x62, 0, 0, 0, 0x63, 0));
  const names = new BlockMemory(wide, 32, [{ address: 0n, size: 8, offset: 0 }]);
  assert.equal(names.utf16(0n, 8), "ab");
  assert.equal(names.utf16(0n, 2), "a");
});
