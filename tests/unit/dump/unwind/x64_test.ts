/** Single steps of x64, on hand-made unwind data and code. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { BlockMemory } from "../../../../src/dump/memory/blocks.ts";
import type { UnwindImage } from "../../../../src/dump/unwind/frame.ts";
import { stepX64 } from "../../../../src/dump/unwind/x64.ts";
import type { RegisterContext } from "../../../../src/dump/windows/context.ts";
import { FileImage } from "../../../../src/dump/pe/image.ts";

const BASE = 0x1_4000_0000n;
const STACK = 0x1000n;
const RBX = 3;
const RBP = 5;

/** A stack whose word at offset n is 0xA000 + n. */
const stack = new Uint8Array(0x200);
for (let at = 0; at < stack.length; at += 8) {
  new DataView(stack.buffer).setBigUint64(at, 0xA000n + BigInt(at), true);
}
const memory = new BlockMemory(new MemorySource(stack), 64, [{
  address: STACK,
  size: stack.length,
  offset: 0,
}]);
const word = (offset: number): bigint => 0xA000n + BigInt(offset);

/** An image with one function from 0x1000 to 0x1040; its unwind data and code are given. */
function image(info: number[], code: number[] = [], more: [at: number, bytes: number[]][] = []): UnwindImage {
  const bytes = new Uint8Array(0x3000).fill(0x90);
  const view = new DataView(bytes.buffer);
  view.setUint32(0x2800, 0x1000, true);
  view.setUint32(0x2804, 0x1040, true);
  view.setUint32(0x2808, 0x2000, true);
  bytes.fill(0, 0x2000, 0x2100);
  bytes.set(info, 0x2000);
  bytes.set(code, 0x1000);
  for (const [at, part] of more) bytes.set(part, at);
  return {
    base: BASE,
    size: 0x3000,
    foreign: false,
    bytes: new FileImage(new MemorySource(bytes), [{ rva: 0, offset: 0, size: 0x3000 }]),
    functions: { rva: 0x2800, size: 12 },
    spare: new Map(),
  };
}

function registers(rva: number, values: Partial<Record<number, bigint>> = {}): RegisterContext {
  return {
    machine: "x64",
    contextFlags: 0x10000B,
    general: Array.from({ length: 16 }, (_, number) => number === 4 ? STACK : values[number] ?? 0n),
    programCounter: BASE + BigInt(rva),
    stackPointer: STACK,
    processorFlags: 0,
    missing: [],
  };
}

function step(from: UnwindImage, rva: number, exact: boolean, values: Partial<Record<number, bigint>> = {}) {
  const result = stepX64(memory, from, registers(rva, values), exact);
  assert(result.end === undefined, result.end);
  const { programCounter, stackPointer, general } = result.registers;
  return { pc: programCounter, sp: stackPointer, rbx: general[RBX], rbp: general[RBP], how: result.how };
}

/** push rbx; sub rsp, 0x20: version 1, prolog of 5 bytes. */
const PUSH_AND_ALLOCATE = [0x01, 5, 2, 0, 5, 0x32, 1, 0x30];

Deno.test("the body undoes the whole prolog", () => {
  const { pc, sp, rbx, how } = step(image(PUSH_AND_ALLOCATE), 0x1010, false);
  assert.deepEqual([pc, sp, rbx, how], [word(0x28), STACK + 0x30n, word(0x20), "unwind"]);
});

Deno.test("inside the prolog only what was done is undone", () => {
  const from = image(PUSH_AND_ALLOCATE);
  assert.deepEqual(step(from, 0x1000, true).sp, STACK + 8n, "nothing was done");
  const { pc, sp, rbx } = step(from, 0x1001, true);
  assert.deepEqual([pc, sp, rbx], [word(8), STACK + 0x10n, word(0)], "only the push");
  assert.deepEqual(step(from, 0x1005, true).sp, STACK + 0x30n, "all of it");
});

Deno.test("a frame pointer brings the stack back after a dynamic allocation", () => {
  // push rbp; sub rsp, 0x20; lea rbp, [rsp+0x10]
  const from = image([0x01, 10, 3, 0x15, 10, 0x03, 5, 0x32, 1, 0x50]);
  const { pc, sp, rbp } = step(from, 0x1020, false, { [RBP]: STACK + 0x50n });
  assert.deepEqual([rbp, pc, sp], [word(0x60), word(0x68), STACK + 0x70n]);
});

Deno.test("version 2 epilog slots are no saved registers", () => {
  // Two epilog slots before the usual ones: one of 2 bytes at the very end.
  const from = image([0x02, 5, 4, 0, 2, 0x16, 0, 0x06, 5, 0x32, 1, 0x30]);
  assert.deepEqual(step(from, 0x1010, false).sp, STACK + 0x30n);
});

Deno.test("an epilog under way is finished by its own code", () => {
  // add rsp, 0x20; pop rbx; ret
  const from = image(PUSH_AND_ALLOCATE, [], [[0x1020, [0x48, 0x83, 0xC4, 0x20, 0x5B, 0xC3]]]);
  assert.deepEqual(step(from, 0x1020, true).sp, STACK + 0x30n);
  const popped = step(from, 0x1024, true);
  assert.deepEqual([popped.rbx, popped.pc, popped.sp], [word(0), word(8), STACK + 0x10n]);
  const returning = step(from, 0x1025, true);
  assert.deepEqual([returning.pc, returning.sp], [word(0), STACK + 8n]);
});

Deno.test("a jump inside the function is no epilog", () => {
  const from = image(PUSH_AND_ALLOCATE, [], [[0x1020, [0xEB, 0x02]]]);
  assert.deepEqual(step(from, 0x1020, true).sp, STACK + 0x30n);
});

Deno.test("a chained entry goes on with its parent's unwind data", () => {
  // sub rsp, 0x10 here; push rbx in the parent.
  const chained = [0x21, 4, 1, 0, 4, 0x12, 0, 0, 0x00, 0x10, 0, 0, 0x40, 0x10, 0, 0, 0x40, 0x20, 0, 0];
  const from = image(chained, [], [[0x2040, [0x01, 1, 1, 0, 1, 0x30]]]);
  const { rbx, pc, sp } = step(from, 0x1020, false);
  assert.deepEqual([rbx, pc, sp], [word(0x10), word(0x18), STACK + 0x20n]);
});

Deno.test("a chain that never ends is refused", () => {
  const endless = [0x21, 0, 0, 0, 0x00, 0x10, 0, 0, 0x40, 0x10, 0, 0, 0x00, 0x20, 0, 0];
  assert.deepEqual(stepX64(memory, image(endless), registers(0x1020), false), { end: "unwind_damaged" });
});

Deno.test("a machine frame gives the interrupted place, with and without an error code", () => {
  for (const [info, first] of [[0x0A, 0], [0x1A, 8]] as const) {
    const { pc, sp, how } = step(image([0x01, 0, 1, 0, 0, info]), 0x1010, false);
    assert.deepEqual([pc, sp, how], [word(first), word(first + 0x18), "machine_frame"]);
  }
});

Deno.test("a function without unwind data returns at once, and an unknown form stops the walk", () => {
  const from = image(PUSH_AND_ALLOCATE);
  assert.deepEqual(step(from, 0x1100, true), {
    pc: word(0),
    sp: STACK + 8n,
    rbx: 0n,
    rbp: 0n,
    how: "leaf",
  });
  assert.deepEqual(stepX64(memory, image([0x03, 0, 0, 0]), registers(0x1010), false), {
    end: "unwind_version",
  });
  assert.deepEqual(stepX64(memory, null, registers(0x1010), false), { end: "no_module" });
});
