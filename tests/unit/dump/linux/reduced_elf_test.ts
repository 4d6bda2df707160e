/** Layouts of reduced cores. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openElfCore } from "../../../../src/dump/linux/containers/elf_core.ts";
import { layOutReduced } from "../../../../src/dump/linux/reduction/reduced_elf.ts";
import { RecordingMemory } from "../../../../src/dump/linux/reduction/recording_memory.ts";
import { elfCoreOf } from "../../../support/linux_core_writer.ts";
import { LinuxMachine } from "../../../support/linux_machine.ts";

const SOURCE = new MemorySource(elfCoreOf(new LinuxMachine()));

Deno.test("pages that touch are one run; a gap, in memory or in the file, begins another", () => {
  const offsets = new Map([[7, 0x7000], [8, 0x8000], [9, 0x1_9000], [12, 0x1_C000]]);
  const memory = { fileOffsetOf: (frame: number) => offsets.get(frame) ?? null };
  const { runs, kept } = layOutReduced(SOURCE, memory, [12, 8, 7, 9, 700], 2 ** 30);
  assert.deepEqual(runs, [
    { address: 0x7000, offset: 0x7000, length: 0x2000 },
    { address: 0x9000, offset: 0x1_9000, length: 0x1000 },
    { address: 0xC000, offset: 0x1_C000, length: 0x1000 },
  ]);
  assert.equal(kept, 0x4000);
});

Deno.test("pages far and wide are joined over what lies between, so that segments stay few", () => {
  const memory = { fileOffsetOf: (frame: number) => 4096 * frame };
  const frames = Array.from({ length: 9000 }, (_, index) => (index % 2 === 0 ? 10 : 12) * (index + 1));
  const { runs, kept, head } = layOutReduced(SOURCE, memory, frames, 2 ** 40);
  assert.ok(runs.length <= 4000);
  assert.ok(
    frames.every((frame) =>
      runs.some(({ address, length }) => address <= 4096 * frame && 4096 * (frame + 1) <= address + length)
    ),
  );
  assert.equal(kept, runs.reduce((sum, { length }) => sum + length, 0));
  assert.equal(head.length % 4096, 0);
});

Deno.test("memory that is in too many pieces of the file is refused", () => {
  const memory = { fileOffsetOf: (frame: number) => 4096 * (100_000 - frame) };
  assert.throws(
    () => layOutReduced(SOURCE, memory, Array.from({ length: 5000 }, (_, frame) => frame), 2 ** 30),
    /5000 pieces/,
  );
});

Deno.test("a record has the pages that were there, whole reads included, and no others", () => {
  const { physical } = openElfCore(SOURCE);
  const memory = new RecordingMemory(physical);
  assert.equal(memory.pageCount, physical.pageCount);
  assert.ok("why" in memory.page(0xFFFF));
  assert.ok(
    memory.read(0x100_0FF8n, 16) instanceof Uint8Array ===
      physical.read(0x100_0FF8n, 16) instanceof Uint8Array,
  );
  assert.ok([...memory.frames].every((frame) => physical.fileOffsetOf(frame) !== null));
  assert.ok(memory.page(0x1000) instanceof Uint8Array);
  assert.ok(memory.frames.has(0x1000) && !memory.frames.has(0xFFFF));
});
