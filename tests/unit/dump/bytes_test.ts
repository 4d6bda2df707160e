import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { ByteReader, MAXIMUM_READ_BYTES, MemorySource, SliceSource } from "../../../src/dump/bytes.ts";
import { CountingSource } from "../../support/counting_source.ts";

function isTruncation(offset: number, expected: number, found: number): (thrown: unknown) => boolean {
  return (thrown) => {
    assert(thrown instanceof HvError);
    assert.equal(thrown.code, "hv.bad_dump");
    const { reason, offset: at, expected: wanted, found: there } = thrown.context;
    assert.deepEqual({ reason, at, wanted, there }, {
      reason: "truncated",
      at: offset,
      wanted: expected,
      there: found,
    });
    return true;
  };
}

Deno.test("numbers are read in the file's byte order", () => {
  const source = new MemorySource(Uint8Array.of(0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8));
  const little = new ByteReader(source);
  assert.equal(little.u8(1, "x"), 0xF2);
  assert.equal(little.u16(0, "x"), 0xF2F1);
  assert.equal(little.u32(4, "x"), 0xF8F7F6F5);
  assert.equal(little.i32(4, "x"), 0xF8F7F6F5 - 2 ** 32);
  assert.equal(little.u64(0, "x"), 0xF8F7F6F5F4F3F2F1n);
  const big = new ByteReader(source, { bigEndian: true });
  assert.equal(big.u16(0, "x"), 0xF1F2);
  assert.equal(big.u64(0, "x"), 0xF1F2F3F4F5F6F7F8n);
});

Deno.test("a read beyond the end names the offset and what is there", () => {
  const reader = new ByteReader(new MemorySource(new Uint8Array(10)));
  assert.throws(() => reader.u32(8, "x"), isTruncation(8, 4, 2));
  assert.throws(() => reader.u64(10, "x"), isTruncation(10, 8, 0));
  assert.throws(() => reader.u8(2 ** 53, "x"), HvError);
  assert.throws(() => reader.u8(-1, "x"), isTruncation(-1, 1, 0));
  assert.throws(() => reader.u8(NaN, "x"), HvError);
  assert.throws(() => reader.bytes(0, -1, "x"), HvError);
});

Deno.test("a source that ends earlier than it said is cut, not read as zeros", () => {
  const source = { size: 100, read: () => new Uint8Array(3) };
  assert.throws(() => new ByteReader(source).u32(0, "x"), isTruncation(0, 4, 3));
  const large = { size: 100_000, read: () => new Uint8Array(9000) };
  assert.throws(() => new ByteReader(large).bytes(0, 10_000, "x"), isTruncation(0, 10_000, 9000));
});

Deno.test("no claim of a file makes a read larger than the limit", () => {
  const reader = new ByteReader(new CountingSource(new Uint8Array(0), 2 ** 40));
  assert.throws(() => reader.bytes(0, MAXIMUM_READ_BYTES + 1, "bitmap"), (thrown: unknown) => {
    assert(thrown instanceof HvError);
    return thrown.context["reason"] === "read_limit";
  });
});

Deno.test("what a source throws itself passes through", () => {
  const failure = new HvError("hv.io", "Cannot read the disk");
  const source = {
    size: 10,
    read: (): Uint8Array => {
      throw failure;
    },
  };
  assert.throws(() => new ByteReader(source).u8(0, "x"), (thrown: unknown) => thrown === failure);
});

Deno.test("neighbouring fields cost one read, and bytes stay valid after later reads", () => {
  const source = new CountingSource(Uint8Array.of(1, 2, 3), 100_000);
  const reader = new ByteReader(source);
  const first = reader.bytes(0, 3, "x");
  for (let offset = 0; offset < 8192; offset += 4) reader.u32(offset, "x");
  assert.equal(source.reads, 1);
  reader.u64(8188, "x");
  reader.u8(90_000, "x");
  assert.equal(source.reads, 3);
  assert.deepEqual([...first], [1, 2, 3]);
});

Deno.test("text ends at its NUL, shows what is invisible and is cut", () => {
  const text = "a\u001bb\u00e9\0rest";
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const reader = new ByteReader(new MemorySource(bytes));
  assert.equal(reader.ascii(0, 9, "x"), "a\\x1bb\\xe9");
  assert.equal(reader.ascii(5, 2, "x"), "re");
  assert.equal(reader.ascii(0, 1_000_000, "x", 1), "a…");
  const wide = new Uint8Array(new Uint16Array([0x61, 0x202E, 0xD800, 0x62, 0, 0x63]).buffer);
  const wideReader = new ByteReader(new MemorySource(wide));
  assert.equal(wideReader.utf16(0, 12, "x"), "a\\u{202e}\\u{d800}b");
  assert.equal(wideReader.utf16(0, 3, "x"), "a");
  assert.equal(wideReader.utf16(0, 4_000_000_000, "x", 2), "a\\u{202e}…");
});

Deno.test("a slice ends where it or its source ends", () => {
  const source = new MemorySource(Uint8Array.of(0, 1, 2, 3, 4));
  const slice = new SliceSource(source, 1, 3);
  assert.equal(slice.size, 3);
  assert.deepEqual([...slice.read(1, 9)], [2, 3]);
  assert.deepEqual([...slice.read(3, 1)], []);
  assert.equal(new SliceSource(source, 3, 9).size, 2);
  assert.equal(new SliceSource(source, 9).size, 0);
});

Deno.test("any read gives the bytes of the file or says that it is cut", () => {
  fc.assert(fc.property(
    fc.uint8Array({ maxLength: 20_000, size: "max" }),
    fc.array(fc.tuple(fc.integer({ min: -10, max: 20_010 }), fc.constantFrom(1, 2, 4, 8)), { minLength: 1 }),
    (bytes, reads) => {
      const reader = new ByteReader(new MemorySource(bytes));
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (const [offset, size] of reads) {
        const inside = offset >= 0 && offset + size <= bytes.length;
        const read = (): number | bigint => {
          if (size === 1) return reader.u8(offset, "x");
          if (size === 2) return reader.u16(offset, "x");
          return size === 4 ? reader.u32(offset, "x") : reader.u64(offset, "x");
        };
        if (!inside) {
          assert.throws(read, (thrown) => thrown instanceof HvError && thrown.code === "hv.bad_dump");
          continue;
        }
        const wanted = size === 1
          ? view.getUint8(offset)
          : size === 2
          ? view.getUint16(offset, true)
          : size === 4
          ? view.getUint32(offset, true)
          : view.getBigUint64(offset, true);
        assert.equal(read(), wanted);
      }
    },
  ));
});
