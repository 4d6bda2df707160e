/** Walks over ARM64 stacks that the tests write: records, saved registers, signatures, and what goes nowhere. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { readArmRegisters } from "../../../../src/dump/linux/architecture/arm64_registers.ts";
import { Btf } from "../../../../src/dump/linux/kernel/btf.ts";
import { CodeMap } from "../../../../src/dump/linux/kernel/code_map.ts";
import { KernelMemory } from "../../../../src/dump/linux/kernel/kernel_memory.ts";
import { SymbolTable } from "../../../../src/dump/linux/kernel/symbol_table.ts";
import { walkFrameRecords } from "../../../../src/dump/linux/unwind/frame_records.ts";
import { BlockMemory } from "../../../../src/dump/memory/blocks.ts";
import type { Walk } from "../../../../src/dump/unwind/walk.ts";
import { BtfWriter } from "../../../support/btf_writer.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";

const TEXT = 0xFFFF_8000_0800_0000n;
const STACK = 0xFFFF_8000_0A00_0000n;
const STACK_BYTES = 0x4000;
const SIGNATURE = 0xFFF0_0000_0000_0000n;
/** Functions of 0x100 bytes each, in this order. */
const FUNCTIONS = ["_stext", "leaf", "inner", "middle", "outer", "entry", "_etext"] as const;

/** An address in a function. */
function within(name: (typeof FUNCTIONS)[number], offset = 0x10): bigint {
  return TEXT + BigInt(FUNCTIONS.indexOf(name) * 0x100 + offset);
}

/** Where the saved registers of each form keep their record. */
const FORMS = { old: 304, meta: 296 } as const;
const KIND_BEHIND_RECORD = 16;

/** One stack, and the kernel around it. */
class Stack {
  readonly #bytes = new DumpBytes(STACK_BYTES);
  readonly #form: keyof typeof FORMS;

  constructor(form: keyof typeof FORMS = "old") {
    this.#form = form;
  }

  u64(offset: number, ...values: bigint[]): this {
    this.#bytes.u64(offset, ...values);
    return this;
  }

  /** Saved registers, and the record inside of them that leads to `x29` and `pc`. */
  saved(offset: number, { x29, pc, lr = 0n, sp = 0n, state = 5n }: {
    x29: bigint;
    pc: bigint;
    lr?: bigint;
    sp?: bigint;
    state?: bigint;
  }): bigint {
    this.u64(offset + 8 * 29, x29, lr, sp, pc, state);
    const record = FORMS[this.#form];
    if (this.#form === "old") this.u64(offset + record, x29, pc);
    else this.u64(offset + record, 0n, 0n, 2n);
    return STACK + BigInt(offset + record);
  }

  /** Walks from x29, pc and lr. */
  walk({ x29, pc, lr = 0n }: { x29: bigint; pc: bigint; lr?: bigint }): Walk {
    const types = new BtfWriter();
    const number = types.integer("u64", 8);
    const record: [string, number, number][] = this.#form === "old"
      ? []
      : [["type", KIND_BEHIND_RECORD, number]];
    types.structure("pt_regs", 336, [
      ["stackframe", FORMS[this.#form], record.length === 0 ? number : types.structure("", 24, record)],
    ]);
    const memory = new KernelMemory(
      new BlockMemory(new MemorySource(this.#bytes.bytes), 64, [{
        address: STACK,
        size: STACK_BYTES,
        offset: 0,
      }]),
    );
    const symbols = FUNCTIONS.map((name, index) => [name, TEXT + BigInt(0x100 * index)] as const);
    const code = new CodeMap(new SymbolTable(symbols, 0n), []);
    const registers = new DumpBytes(34 * 8).u64(29 * 8, x29, lr, x29, pc, 5n).bytes;
    const ground = { memory, types: new Btf(types.bytes()), code, signature: SIGNATURE };
    return walkFrameRecords(ground, readArmRegisters(registers).context);
  }
}

function tell({ frames, end }: Walk): string[] {
  const code = FUNCTIONS.map((name, index) => [name, TEXT + BigInt(0x100 * index)] as const);
  const told = frames.map(({ address, how }) => {
    const found = code.findLast(([, start]) => start < address);
    return `${
      found === undefined || address > within("_etext") ? `0x${address.toString(16)}` : found[0]
    } ${how}`;
  });
  return [...told, end];
}

Deno.test("records lead from function to function down to the empty one", () => {
  const stack = new Stack().u64(0x100, STACK + 0x200n, within("middle")).u64(
    0x200,
    STACK + 0x300n,
    within("outer"),
  )
    .u64(0x300, 0n, 0n);
  assert.deepEqual(tell(stack.walk({ x29: STACK + 0x100n, pc: within("inner") })), [
    "inner context",
    "middle frame_pointer",
    "outer frame_pointer",
    "bottom",
  ]);
});

Deno.test("signatures are taken off return addresses, and only in the kernel's half", () => {
  const signed = (address: bigint) => address & ~SIGNATURE | 0x00A0_0000_0000_0000n;
  const stack = new Stack().u64(0x100, STACK + 0x200n, signed(within("middle"))).u64(0x200, 0n, 0n);
  const { frames } = stack.walk({ x29: STACK + 0x100n, pc: within("inner"), lr: signed(within("middle")) });
  assert.deepEqual(frames.map(({ address }) => address), [within("inner"), within("middle")]);
  const user = new Stack().u64(0x100, STACK + 0x200n, 0x0010_0000_0040_1000n).u64(0x200, 0n, 0n);
  assert.equal(
    user.walk({ x29: STACK + 0x100n, pc: within("inner") }).frames.at(-1)?.address,
    0x0010_0000_0040_1000n,
  );
});

Deno.test("the link register tells the caller of a function that keeps no record", () => {
  const stack = new Stack().u64(0x100, STACK + 0x200n, within("outer")).u64(0x200, 0n, 0n);
  const from = { x29: STACK + 0x100n, pc: within("leaf") };
  assert.deepEqual(tell(stack.walk({ ...from, lr: within("middle") })), [
    "leaf context",
    "middle leaf",
    "outer frame_pointer",
    "bottom",
  ]);
  // It leads into the function itself once that has called another, and is the record's own before.
  for (const lr of [within("leaf", 0x20), within("outer"), 0n, 0x1234n, STACK]) {
    assert.deepEqual(tell(stack.walk({ ...from, lr })), ["leaf context", "outer frame_pointer", "bottom"]);
  }
});

Deno.test("a jump to nowhere is told with its caller", () => {
  const stack = new Stack().u64(0x100, STACK + 0x200n, within("outer")).u64(0x200, 0n, 0n);
  assert.deepEqual(tell(stack.walk({ x29: STACK + 0x100n, pc: 0n, lr: within("middle") })), [
    "0x0 context",
    "middle leaf",
    "outer frame_pointer",
    "bottom",
  ]);
});

for (const form of ["old", "meta"] as const) {
  Deno.test(`what an exception cut off is found in the registers that it saved (${form})`, () => {
    const stack = new Stack(form);
    const record = stack.saved(0x200, {
      x29: STACK + 0x800n,
      pc: within("leaf"),
      lr: within("middle"),
      sp: STACK + 0x7F0n,
    });
    stack.u64(0x100, record, within("entry")).u64(0x800, STACK + 0x900n, within("outer"));
    if (form === "old") stack.u64(0x900, 0n, 0n);
    else stack.u64(0x900, 0n, 0n, 1n);
    const walk = stack.walk({ x29: STACK + 0x100n, pc: within("inner") });
    assert.deepEqual(tell(walk), [
      "inner context",
      "entry frame_pointer",
      "leaf machine_frame",
      "middle leaf",
      "outer frame_pointer",
      "bottom",
    ]);
    const cut = walk.frames[2];
    assert.equal(cut?.stackPointer, STACK + 0x7F0n);
    assert.equal(cut?.exact, true);
    assert.deepEqual(cut?.registers.missing, []);
  });

  Deno.test(`a jump to nowhere that the kernel died of is told with its caller (${form})`, () => {
    const stack = new Stack(form);
    const record = stack.saved(0x200, { x29: STACK + 0x800n, pc: 0n, lr: within("middle") });
    stack.u64(0x100, record, within("entry")).u64(0x800, 0n, 0n, 1n);
    assert.deepEqual(tell(stack.walk({ x29: STACK + 0x100n, pc: within("inner") })), [
      "inner context",
      "entry frame_pointer",
      "0x0 machine_frame",
      "middle leaf",
      "bottom",
    ]);
  });

  Deno.test(`a program that was interrupted ends the walk (${form})`, () => {
    const stack = new Stack(form);
    const record = stack.saved(0x200, { x29: 0n, pc: 0n, state: 0n });
    stack.u64(0x100, record, within("entry"));
    assert.deepEqual(tell(stack.walk({ x29: STACK + 0x100n, pc: within("inner") })), [
      "inner context",
      "entry frame_pointer",
      "bottom",
    ]);
  });
}

Deno.test("a kernel that was entered this moment still has the frame pointer of the program", () => {
  const stack = new Stack().u64(0x100, 0x7FFF_0000n, within("middle"));
  assert.deepEqual(tell(stack.walk({ x29: 0x7FFF_0000n, pc: within("entry") })), ["entry context", "bottom"]);
  // Further up such a pointer is no end but damage.
  assert.equal(stack.walk({ x29: STACK + 0x100n, pc: within("inner") }).end, "no_memory");
});

Deno.test("records that go in circles, nowhere or astray end the walk with why", () => {
  const from = { x29: STACK + 0x100n, pc: within("inner") };
  const ends = (stack: Stack) => stack.walk(from).end;
  assert.equal(ends(new Stack().u64(0x100, STACK + 0x100n, within("middle"))), "not_advancing");
  assert.equal(
    ends(
      new Stack().u64(0x100, STACK + 0x200n, within("middle")).u64(0x200, STACK + 0x100n, within("inner")),
    ),
    "not_advancing",
  );
  assert.equal(ends(new Stack().u64(0x100, 0xFFFF_8000_0F00_0000n, within("middle"))), "no_memory");
  assert.equal(ends(new Stack().u64(0x100, STACK + 0x203n, within("middle"))), "misaligned");
  assert.equal(
    ends(new Stack().u64(0x100, STACK + 0x200n, 0x5555n).u64(0x200, STACK + 0x300n, 0x6666n)),
    "no_module",
  );
  assert.equal(new Stack().walk({ x29: 0n, pc: within("inner") }).end, "bottom");
  const endless = new Stack();
  for (let at = 0x100; at + 16 < STACK_BYTES; at += 16) {
    endless.u64(at, STACK + BigInt(at + 16), within("middle"));
  }
  const walk = endless.walk(from);
  assert.equal(walk.end, "limit");
  assert.ok(walk.frames.length <= 257);
});

Deno.test("a stack of any words is walked to an end", () => {
  const word = fc.oneof(
    fc.integer({ min: 0, max: STACK_BYTES / 8 }).map((index) => STACK + BigInt(8 * index)),
    fc.integer({ min: 0, max: 0x700 }).map((offset) => TEXT + BigInt(offset)),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constant(0n),
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 128, maxLength: 128 }), word, word, (words, x29, lr) => {
      for (const form of ["old", "meta"] as const) {
        const stack = new Stack(form);
        for (let at = 0; at < STACK_BYTES / 8; at++) stack.u64(8 * at, words[at % words.length] ?? 0n);
        const walk = stack.walk({ x29, pc: within("inner"), lr });
        assert.ok(walk.frames.length >= 1 && walk.frames.length <= 257);
      }
    }),
    { numRuns: 50 },
  );
});
