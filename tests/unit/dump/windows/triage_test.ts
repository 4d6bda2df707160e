import assert from "node:assert/strict";
import { ByteReader, MemorySource } from "../../../../src/dump/bytes.ts";
import { readSummaryBody } from "../../../../src/dump/windows/bitmap.ts";
import { readTriageHeader } from "../../../../src/dump/windows/triage.ts";
import { inspectDump } from "../../../../src/dump/inspect.ts";
import { DumpBytes, joinBytes, kernelHeader32, pages } from "../../../support/dump_writer.ts";

/** The eighteen dwords that both forms begin with, in order. */
const COMMON = [
  "service_pack_build",
  "size_of_dump",
  "valid_offset",
  "context_offset",
  "exception_offset",
  "mm_offset",
  "unloaded_drivers_offset",
  "prcb_offset",
  "process_offset",
  "thread_offset",
  "call_stack_offset",
  "size_of_call_stack",
  "driver_list_offset",
  "driver_count",
  "string_pool_offset",
  "string_pool_size",
  "broken_driver_offset",
  "triage_options",
];
const TAIL = ["debugger_data_offset", "debugger_data_size", "data_blocks_offset", "data_blocks_count"];

/** A header whose every field holds a value of its own, with what reading it must give. */
function numbered(bits: 32 | 64): [bytes: DumpBytes, expected: Record<string, number | bigint>] {
  const bytes = new DumpBytes(0x100, "\xAA");
  const expected: Record<string, number | bigint> = {};
  COMMON.forEach((name, index) => {
    bytes.u32(0x10 + index * 4, 100 + index);
    expected[name] = 100 + index;
  });
  if (bits === 64) bytes.u64(0x10 + 0x48, 0x1234_5678_9ABCn);
  else bytes.u32(0x10 + 0x48, 0x9ABC);
  expected["top_of_stack"] = bits === 64 ? 0x1234_5678_9ABCn : 0x9ABCn;
  TAIL.forEach((name, index) => {
    bytes.u32(0x10 + (bits === 64 ? 0x70 : 0x58) + index * 4, 200 + index);
    expected[name] = 200 + index;
  });
  return [bytes, expected];
}

Deno.test("every field of both triage headers has its place", () => {
  for (const bits of [64, 32] as const) {
    const [{ bytes }, expected] = numbered(bits);
    assert.deepEqual(readTriageHeader(new ByteReader(new MemorySource(bytes)), 0x10, bits), expected);
  }
});

Deno.test("a 32-bit triage dump", async () => {
  const dump = new DumpBytes(0x2000);
  dump.bytes.set(kernelHeader32(4).u32(0xF8C, 0x41).bytes);
  dump.u32(0x1004, 0x2000, 0x1FFC).u32(0x1018, 0x1100).u32(0x1030, 0x1200, 3);
  dump.u32(0x1058, 0, 0, 0x1300, 5).u32(0x1100, 2).text(0x1FFC, "TRGD");
  const found = await inspectDump(new MemorySource(dump.bytes), { path: "x" });
  assert.equal(found.dump_kind, "triage");
  assert.equal(found.drivers, 3);
  assert.equal(found.unloaded_drivers, 2);
  assert.equal(found.data_blocks, 5);
  assert.equal(found.expected_size_bytes, 0x2000);
  assert.deepEqual(found.parts, ["context", "driver_list"]);
  assert.deepEqual(found.warnings, []);
});

Deno.test("a kernel summary of a 32-bit machine keeps its bits behind the shorter RTL_BITMAP", async () => {
  const body = new DumpBytes(0x22).text(0, "SDMPDUMP").u32(0x0C, 0x1022, 16, 3, 99);
  body.bytes.set([0x07, 0x00], 0x20);
  const bytes = joinBytes(kernelHeader32(2).bytes, body.bytes, pages(3));
  const found = await inspectDump(new MemorySource(bytes), { path: "x" });
  assert.equal(found.dump_kind, "kernel_summary");
  assert.equal(found.bitmap_bits, 16);
  assert.equal(found.pages, 3);
  assert.deepEqual(found.warnings, []);
});

Deno.test("only bits within the stated length count in a summary", () => {
  const body = new DumpBytes(0x100).text(0, "SDMPDUMP").u32(0x0C, 0x29, 3, 2);
  body.bytes.set([0xF3], 0x28);
  const summary = readSummaryBody(new ByteReader(new MemorySource(body.bytes)), 0, 64, []);
  assert.equal(summary.pages, 2n);
  assert.equal(summary.bitmapBits, 3n);
});
