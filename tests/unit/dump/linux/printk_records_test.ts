/** The log of kernels before 5.10, in memory that the test writes. */

import assert from "node:assert/strict";
import { KernelMemory } from "../../../../src/dump/linux/kernel/kernel_memory.ts";
import { dmesgLines } from "../../../../src/dump/linux/kernel/log_record.ts";
import { readKernelLog } from "../../../../src/dump/linux/kernel/kernel_log.ts";
import { Vmcoreinfo } from "../../../../src/dump/linux/kernel/vmcoreinfo.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { BlockMemory } from "../../../../src/dump/memory/blocks.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";
import { assertDumpRefused } from "../../../support/refused.ts";

const BASE = 0x1_0000n;
const SIZE = 256;
const RECORD = 16;

const INFO = [
  "OSRELEASE=4.19.0-test",
  "SYMBOL(log_buf)=10000",
  "SYMBOL(log_buf_len)=10008",
  "SYMBOL(log_first_idx)=1000c",
  "SYMBOL(log_next_idx)=10010",
  "SIZE(printk_log)=16",
  "OFFSET(printk_log.ts_nsec)=0",
  "OFFSET(printk_log.len)=8",
  "OFFSET(printk_log.text_len)=10",
  "OFFSET(printk_log.dict_len)=12",
].join("\n");

/** Four variables, then the buffer at 0x10100. */
function memory(first: number, next: number, fill: (buffer: DumpBytes) => void): KernelMemory {
  const bytes = new DumpBytes(0x100 + SIZE).u64(0, BASE + 0x100n).u32(8, SIZE, first, next);
  const buffer = new DumpBytes(SIZE);
  fill(buffer);
  bytes.bytes.set(buffer.bytes, 0x100);
  const blocks = [{ address: BASE, size: bytes.bytes.length, offset: 0 }];
  return new KernelMemory(new BlockMemory(new MemorySource(bytes.bytes), 64, blocks));
}

function record(buffer: DumpBytes, at: number, seconds: number, text: string): number {
  const length = RECORD + Math.ceil(text.length / 4) * 4;
  buffer.u64(at, BigInt(seconds) * 1_000_000_000n).u16(at + 8, length, text.length, 0).u8(at + 15, 6 << 5)
    .text(at + RECORD, text);
  return at + length;
}

Deno.test("records from the first to the next free one, round the end of the buffer", () => {
  const read = readKernelLog(
    memory(160, 76, (buffer) => {
      record(buffer, 160, 1, "one");
      // No room for another record: no length says that it stands at the start.
      assert.equal(
        record(buffer, record(buffer, 0, 2, "two\nlines"), 3, "a third message of more words"),
        76,
      );
    }),
    new Vmcoreinfo(INFO, "note"),
  );
  assert.deepEqual(read.records.flatMap(dmesgLines), [
    "[    1.000000] one",
    "[    2.000000] two",
    "[    2.000000] lines",
    "[    3.000000] a third message of more words",
  ]);
  assert.equal(read.lost, 0);
  assert.equal(read.records[0]?.level, 6);
});

Deno.test("a record that goes beyond the buffer, and a chain without an end, are lost", () => {
  const beyond = readKernelLog(
    memory(0, 100, (buffer) => buffer.u16(8, 0xFFFF, 4, 0)),
    new Vmcoreinfo(INFO, "note"),
  );
  assert.deepEqual(beyond, { records: [], lost: 1 });
  const empty = readKernelLog(memory(0, 100, () => {}), new Vmcoreinfo(INFO, "note"));
  assert.deepEqual(empty, { records: [], lost: 1 });
});

Deno.test("a buffer of an impossible size is refused", async () => {
  const kernel = new KernelMemory(
    new BlockMemory(new MemorySource(new DumpBytes(64).u64(0, BASE).u32(8, 0x7FFF_FFFF).bytes), 64, [
      { address: BASE, size: 64, offset: 0 },
    ]),
  );
  await assertDumpRefused("kernel_log", () => readKernelLog(kernel, new Vmcoreinfo(INFO, "note")));
});
