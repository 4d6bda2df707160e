/** Whole stacks that our own writer has run: each frame is known, and the real engine is asked as well. */

import assert from "node:assert/strict";
import { SymbolFiles } from "../../../../src/debugger/symbols/symbol_files.ts";
import { findStack } from "../../../../src/debugger/triage/stack.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openDump } from "../../../../src/dump/open.ts";
import { askEngine, engineTest } from "../../../support/debugger_engine.ts";
import {
  ARM64_ENTRIES,
  ARM64_SHAPES,
  type Arm64Shape,
  writeArm64Stack,
} from "../../../support/arm64_stack_writer.ts";
import { randomFrom } from "../../../support/mutations.ts";
import { writeStack, type WrittenFrame } from "../../../support/stack_writer.ts";

function text(frames: readonly WrittenFrame[]): string[] {
  return frames.map(({ address, stackPointer }) => `${address.toString(16)} ${stackPointer.toString(16)}`);
}

Deno.test("every form of prolog is undone, whatever calls or interrupts whatever", async () => {
  for (let seed = 1; seed <= 80; seed++) {
    const { dump, frames, kinds } = writeStack(randomFrom(seed));
    const session = openDump(new MemorySource(dump));
    const stack = await findStack(session, new SymbolFiles(session, null));
    assert.deepEqual(text(stack.frames), text(frames), `seed ${seed}: ${kinds.join(", ")}`);
    assert.equal(stack.end, "bottom", `seed ${seed}`);
    for (const [index, { how }] of stack.frames.entries()) {
      const entered = kinds[kinds.length - index];
      if (index > 0) {
        assert.equal(
          how,
          entered?.startsWith("interrupt") ? "machine_frame" : "unwind",
          `seed ${seed}, frame ${index}`,
        );
      }
    }
  }
});

Deno.test("every form of ARM64 prolog is undone", async () => {
  const random = randomFrom(5);
  const any = (): Arm64Shape => ARM64_SHAPES[Math.floor(random() * ARM64_SHAPES.length)] ?? "chain";
  const stacks = [
    ...ARM64_SHAPES.map((shape) => [shape]),
    ...Array.from({ length: 40 }, () => [any(), any(), any(), any(), any()]),
  ];
  for (const shapes of stacks) {
    const { dump, frames } = writeArm64Stack(["chain", ...shapes], random);
    const session = openDump(new MemorySource(dump));
    const stack = await findStack(session, new SymbolFiles(session, null));
    assert.deepEqual(text(stack.frames), text(frames), shapes.join(", "));
    assert.equal(stack.end, "bottom", shapes.join(", "));
  }
});

/** Stacks across every way into a function but a call, outermost function first. */
const ENTERED: readonly Arm64Shape[][] = [
  ["chain", "pairs", "trap", "single", "machine", "next", "jumped", "allocate", "context", "large"],
  ["chain", "leaf", "context", "pairs", "leaf", "trap", "offset"],
  ["chain", "leaf", "emulated", "any", "emulated", "vectors"],
  ["chain", "large", "fresh"],
];

Deno.test("ARM64 stacks are walked across traps, interrupts and saved contexts", async () => {
  for (const shapes of ENTERED) {
    const { dump, frames } = writeArm64Stack(shapes, randomFrom(11));
    const session = openDump(new MemorySource(dump));
    const stack = await findStack(session, new SymbolFiles(session, null));
    assert.deepEqual(text(stack.frames), text(frames), shapes.join(", "));
    assert.equal(stack.end, "bottom", shapes.join(", "));
    const entered = shapes.toReversed().map((shape) => shape === "fresh" || isEntry(shape));
    for (const [index, { how, exact }] of stack.frames.slice(1).entries()) {
      assert.equal(
        how === "machine_frame",
        entered[index],
        `${shapes.join(", ")}: frame ${index + 1} is ${how}`,
      );
      assert.equal(exact, entered[index]);
    }
  }
});

Deno.test("a walk ends in an image of another processor", async () => {
  const { dump, frames } = writeArm64Stack(["chain", "chain", "chain"], randomFrom(3));
  const header = [0x50, 0x45, 0, 0, 0x64, 0xAA];
  const at = dump.findIndex((_, index) => header.every((byte, offset) => dump[index + offset] === byte));
  assert.ok(at > 0);
  dump.set([0x64, 0x86], at + 4);
  const session = openDump(new MemorySource(dump));
  const stack = await findStack(session, new SymbolFiles(session, null));
  assert.deepEqual(text(stack.frames), text(frames.slice(0, 1)));
  assert.equal(stack.end, "unwind_version");
});

function isEntry(shape: Arm64Shape): boolean {
  return ARM64_ENTRIES.some((entry) => entry === shape);
}

engineTest("the engine walks the written stacks to the same frames", async () => {
  const written = [1, 2, 3].map((seed) => writeStack(randomFrom(seed * 7919)));
  // It does not know which bits of a signed address are the signature.
  const shapes = ARM64_SHAPES.filter((shape) => shape !== "signed");
  for (const order of [["chain", ...shapes], ["chain", ...shapes.toReversed()], ...ENTERED] as const) {
    written.push({ ...writeArm64Stack(order, randomFrom(9)), kinds: [...order] });
  }
  for (const { dump, frames, kinds } of written) {
    const printed = (await askEngine(dump, "k 100")).get("k 100") ?? "";
    const rows = printed.split("\n").flatMap((line) => {
      const [, sp, back] = /^([0-9a-f]{8}`[0-9a-f]{8}) ([0-9a-f]{8}`[0-9a-f]{8}) /.exec(line) ?? [];
      return sp === undefined || back === undefined
        ? []
        : [[BigInt(`0x${sp.replace("`", "")}`), BigInt(`0x${back.replace("`", "")}`)] as const];
    });
    assert.deepEqual(
      rows.map(([sp, back]) => `${sp.toString(16)} ${back.toString(16)}`),
      frames.map(({ stackPointer }, index) =>
        `${stackPointer.toString(16)} ${(frames[index + 1]?.address ?? 0n).toString(16)}`
      ),
      `${kinds.join(", ")}\n${printed}`,
    );
  }
});
