/** Damaged and hostile dumps: refused with a reason, or opened with what can be used of them. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { type ByteSource, MAXIMUM_READ_BYTES, MemorySource } from "../../../src/dump/bytes.ts";
import { openDump } from "../../../src/dump/open.ts";
import type { DumpSession, KernelSession } from "../../../src/dump/session.ts";
import { dumpMachine, smallDump } from "../../support/machine_dump.ts";
import { writeMachine } from "../../support/machine_writer.ts";
import { hasSample, readSample, samplePath } from "../../support/shared_samples.ts";

/** Opens a dump; the reason when it is refused. Anything else that is thrown is a fault of ours. */
function tryOpen(bytes: Uint8Array): DumpSession | string {
  try {
    return openDump(new MemorySource(bytes));
  } catch (thrown) {
    assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", `threw ${thrown}`);
    return `refused: ${thrown.context["reason"]}`;
  }
}

/** Asks a session for everything that it can tell. */
function readAll(session: DumpSession): void {
  const { modules, unloaded, exception, contexts, memory } = session;
  for (const module of modules.all.slice(0, 8)) session.codeViewOf(module);
  for (const { registers } of contexts) memory.readParts(registers.stackPointer, 0x4000);
  assert(unloaded.length >= 0 && (exception === null || exception.code >= 0));
  if (session.mode === "user") {
    assert(session.threads.length >= 0);
    assert(session.processId === null || session.processId >= 0);
    return;
  }
  const { processors, crashed, thread, process, buildLab, bugCheck, debuggerData } = session;
  assert(processors.length <= 1024);
  for (const value of [crashed, thread, process, buildLab, bugCheck, debuggerData]) {
    assert(value !== undefined);
  }
}

function outcome(name: string): string {
  const opened = tryOpen(readSample(`dumps/hostile/${name}`));
  if (typeof opened === "string") return opened;
  readAll(opened);
  const noted = opened.warnings.map(({ reason }) => reason);
  return [...new Set(noted)].filter((reason) => !CONSEQUENCES.includes(reason)).join(",");
}

/** None of the hostile files holds a kernel, so these follow for all of them. */
const CONSEQUENCES = ["bad_dtb", "no_kdbg", "list_cut"];

const HOSTILE: Readonly<Record<string, string>> = {
  "zero.dmp": "refused: empty",
  "h100.dmp": "refused: too_short",
  "h8191.dmp": "refused: too_short",
  "type41.dmp": "refused: unsupported_kind",
  "validdump0.dmp": "refused: being_written",
  "bigend.dmp": "refused: byte_swapped",
  "runs_max.dmp": "run_count",
  "run_overflow.dmp": "run_overflow",
  "run_overlap.dmp": "run_overlap",
  "full_pagefill.dmp": "body_unusable",
  "full_trunc.dmp": "",
  "bmp_bits_huge.dmp": "bitmap_size",
  "bmp_bits13.dmp": "",
  "rdmp_count0.dmp": "run_count",
  "rdmp_countmax.dmp": "run_count",
  "rdmp_overlap.dmp": "run_overlap",
  "rdmp_total_wrong.dmp": "page_count_mismatch",
  "rdmp_range_overflow.dmp": "run_overflow",
  "rdmp_unsorted_frame0.dmp": "",
};

Deno.test({
  name: "each hostile dump is answered with its reason",
  ignore: !hasSample("dumps/hostile"),
  fn() {
    for (const { name } of Deno.readDirSync(samplePath("dumps/hostile"))) {
      assert.equal(outcome(name), HOSTILE[name], name);
    }
  },
});

Deno.test({
  name: "pages of hostile dumps are those that the real debugger reads",
  ignore: !hasSample("dumps/hostile"),
  fn() {
    /** First byte of each of the first 20 frames; null where there is no page. */
    const firstBytes = (name: string) => {
      const session = openKernel(readSample(`dumps/hostile/${name}`));
      return Array.from({ length: 20 }, (_, frame) => {
        const page = session.physical?.page(frame);
        return page instanceof Uint8Array ? page[0] ?? null : null;
      });
    };
    const only = (entries: [number, number][]) =>
      Array.from({ length: 20 }, (_, frame) => entries.find(([each]) => each === frame)?.[1] ?? null);
    assert.deepEqual(
      firstBytes("rdmp_unsorted_frame0.dmp"),
      only([[0, 0x64], [5, 0x63], [0x10, 0x61], [0x11, 0x62]]),
    );
    assert.deepEqual(firstBytes("rdmp_overlap.dmp"), only([[5, 0x61], [6, 0x62], [7, 0x64]]));
    assert.deepEqual(
      firstBytes("bmp_bits13.dmp"),
      only([[0, 0x50], [1, 0x51], [2, 0x52], [8, 0x58], [10, 0x5A], [12, 0x5C]]),
    );
    assert.deepEqual(firstBytes("bmp_bits_huge.dmp"), only([]));
    assert.deepEqual(
      firstBytes("run_overlap.dmp"),
      only([[0, 0x30], [1, 0x31], [2, 0x32], [3, 0x33], [4, 0x36], [5, 0x37]]),
    );
  },
});

function openKernel(bytes: Uint8Array): KernelSession {
  const session = openDump(new MemorySource(bytes));
  assert(session.mode === "kernel");
  return session;
}

/** A source that says it is larger than anything, and counts what is read of it. */
class EndlessSource implements ByteSource {
  readonly size = 2 ** 46;
  bytesRead = 0;
  readonly #head: Uint8Array;

  constructor(head: Uint8Array) {
    this.#head = head;
  }

  read(offset: number, length: number): Uint8Array {
    assert(length <= MAXIMUM_READ_BYTES, `${length} bytes at once`);
    this.bytesRead += length;
    const bytes = new Uint8Array(length);
    bytes.set(this.#head.subarray(offset, offset + length));
    return bytes;
  }
}

Deno.test("counts that a huge file could hold are still bounded", () => {
  const machine = writeMachine("x64");
  const ranges = dumpMachine(machine, "rdmp8");
  const view = new DataView(ranges.buffer);
  view.setBigUint64(0x2018, 1n << 45n, true);
  view.setUint32(0x2020, 0xFFFFFFFF, true);
  const source = new EndlessSource(ranges);
  readAll(openDump(source));
  assert(source.bytesRead < 64 * 1024 * 1024, `${source.bytesRead} bytes`);

  const small = smallDump(machine);
  small.u32(0x207C, 0xFFFFFFFF).u32(0x2034, 0xFFFFFFFF);
  const many = new EndlessSource(small.bytes);
  readAll(openDump(many));
  assert(many.bytesRead < 64 * 1024 * 1024, `${many.bytesRead} bytes`);
});

/** The dumps that are mutated: one of each form. */
function seeds(): Uint8Array[] {
  const machine = writeMachine("x64");
  const made = [
    dumpMachine(machine, "full"),
    dumpMachine(machine, "sdmp"),
    dumpMachine(machine, "rdmp9"),
    dumpMachine(machine, "summary"),
    dumpMachine(writeMachine("x86-pae"), "full"),
    dumpMachine(writeMachine("arm64"), "fdmp"),
    smallDump(machine).bytes,
  ];
  const minidump = "dumps/made/user/crash-small.dmp";
  return hasSample(minidump) ? [...made, readSample(minidump)] : made;
}

const LENGTHS = [
  0n,
  1n,
  0x7FFFn,
  0xFFFFn,
  0x7FFFFFFFn,
  0xFFFFFFFFn,
  0x7FFFFFFFFFFFFFFFn,
  0xFFFFFFFFFFFFFFFFn,
];

Deno.test("a dump with any bytes changed or cut anywhere is refused with a reason or opened", () => {
  const files = seeds();
  const change = fc.record({
    at: fc.oneof(fc.nat(0x2200), fc.nat(0x40000)),
    size: fc.constantFrom(1, 2, 4, 8),
    value: fc.oneof(fc.constantFrom(...LENGTHS), fc.bigInt(0n, 0xFFFFFFFFFFFFFFFFn)),
  });
  fc.assert(
    fc.property(
      fc.nat(files.length - 1),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 3 }),
      (index, changes, cut) => {
        const bytes = files[index]?.slice() ?? new Uint8Array(0);
        for (const { at, size, value } of changes) {
          for (let byte = 0; byte < size; byte++) {
            bytes[(at + byte) % bytes.length] = Number((value >> BigInt(8 * byte)) & 0xFFn);
          }
        }
        const opened = tryOpen(cut === null ? bytes : bytes.subarray(0, Math.floor(cut * bytes.length)));
        if (typeof opened !== "string") readAll(opened);
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("pointers of a kernel that lead anywhere do no harm", () => {
  const machine = writeMachine("x64");
  const file = dumpMachine(machine, "fdmp");
  const start = file.length - machine.pages.size * 4096;
  const pointer = fc.oneof(
    fc.constantFrom(
      0n,
      1n,
      0xFFFFF80010003000n,
      0xFFFFA00000006000n,
      0xFFFFFFFFFFFFFFF8n,
      0xFFFFA00000004000n,
    ),
    fc.bigInt(0n, 0xFFFFFFFFFFFFFFFFn),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(machine.pages.size * 512 - 1), pointer), { minLength: 1, maxLength: 40 }),
      (changes) => {
        const bytes = file.slice();
        const view = new DataView(bytes.buffer);
        for (const [word, value] of changes) view.setBigUint64(start + word * 8, value, true);
        const opened = tryOpen(bytes);
        assert(typeof opened !== "string");
        readAll(opened);
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("a dump that is cut at every page is refused or opened", () => {
  for (const bytes of seeds()) {
    for (let size = 0; size < bytes.length; size += size < 0x3000 ? 512 : 4096) {
      const opened = tryOpen(bytes.subarray(0, size));
      if (typeof opened !== "string") readAll(opened);
    }
  }
});
