import assert from "node:assert/strict";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { BlockMemory } from "../../../../src/dump/memory/blocks.ts";
import {
  contextBytes,
  type ContextMachine,
  namedRegisters,
  parseContext,
  readTrapFrame,
  type RegisterContext,
} from "../../../../src/dump/windows/context.ts";
import { readEmulatedContext } from "../../../../src/dump/windows/emulated_context.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";
import { writtenContext } from "../../../support/machine_writer.ts";

/**
 * Memory at 0x1000 in which each word holds its own offset, with a code segment of the given privilege and the flags of
 * an x64 context.
 */
function frameMemory(bits: 32 | 64, privilege: number, contextFlags = 0x30): BlockMemory {
  const bytes = new DumpBytes(0x200);
  for (let at = 0; at < 0x200; at += bits / 8) {
    if (bits === 64) bytes.u64(at, BigInt(at));
    else bytes.u32(at, at);
  }
  if (bits === 32) bytes.u32(0x6C, 8 | privilege);
  else bytes.u32(0x30, contextFlags);
  return new BlockMemory(new MemorySource(bytes.bytes), bits, [{ address: 0x1000n, size: 0x200, offset: 0 }]);
}

function trap(machine: ContextMachine, privilege = 0): string {
  const memory = frameMemory(machine === "x86" ? 32 : 64, privilege);
  const context = readTrapFrame(memory, machine, 0x1000n);
  assert(context !== null);
  return namedRegisters(context).map(([name, value]) => `${name}=${value.toString(16)}`).join(" ");
}

Deno.test("trap frames hold what the real debugger finds in them", () => {
  assert.equal(
    trap("x64"),
    "rax=30 rcx=38 rdx=40 rbp=158 r8=48 r9=50 r10=58 r11=60 rsp=180 rip=168 efl=178",
  );
  assert.equal(
    trap("x86"),
    "eax=44 ecx=40 edx=3c ebx=5c ebp=60 esi=58 edi=54 esp=1074 eip=68 efl=70",
  );
  assert.match(trap("x86", 3), / esp=74 /, "from user mode the processor pushed its stack pointer");
  assert.equal(
    trap("arm64"),
    "x0=a0 x1=a8 x2=b0 x3=b8 x4=c0 x5=c8 x6=d0 x7=d8 x8=e0 x9=e8 x10=f0 x11=f8 x12=100 x13=108 x14=110 " +
      "x15=118 x16=120 x17=128 x18=130 fp=140 lr=138 sp=98 pc=148 cpsr=90",
  );
  assert.equal(readTrapFrame(frameMemory(64, 0), "x64", 0x1100n), null, "half of the frame is not there");
});

Deno.test("the record of an emulated processor holds what the real debugger finds in it", () => {
  const read = (contextFlags: number, address = 0x1000n) =>
    readEmulatedContext(frameMemory(64, 0, contextFlags), address);
  const shown = (context: RegisterContext | null) =>
    context === null
      ? null
      : namedRegisters(context).map(([name, value]) => `${name}=${value.toString(16)}`).join(" ");
  assert.equal(
    shown(read(0x10000F)),
    "x0=80 x1=88 x2=b8 x3=c0 x4=c8 x5=d0 x6=130 x7=140 x8=78 x9=150 x10=160 x11=170 x12=180 x15=190 x19=d8 " +
      "x20=e0 x21=e8 x22=f0 x25=a8 x26=b0 x27=90 fp=a0 lr=120 sp=98 pc=f8 cpsr=0",
  );
  assert.match(
    shown(read(0x100001)) ?? "",
    /^x6=130 x7=140 x9=150 .* lr=120 sp=98 pc=f8/,
    "the integers are left out",
  );
  assert.equal(read(0x400007), null, "of another processor");
  assert.equal(read(0x10000F, 0x1100n), null, "half of it is not there");
});

Deno.test("a context tells which processor it is of", () => {
  const contexts = {
    x64: writtenContext("x64", 1),
    x86: writtenContext("x86", 1),
    arm64: writtenContext("arm64", 1),
  };
  for (const machine of ["x64", "x86", "arm64"] as const) {
    for (const [other, bytes] of Object.entries(contexts)) {
      const found = parseContext(machine, bytes);
      assert.equal(found?.machine, other === machine ? machine : undefined, `${other} as ${machine}`);
    }
    assert.equal(parseContext(machine, contexts[machine].subarray(0, contextBytes(machine) - 1)), null);
    const filler = new DumpBytes(0x4D0, "PAGE").bytes;
    assert.equal(parseContext(machine, filler), null, "an unwritten header holds no context");
  }
});

Deno.test("registers of parts that a context leaves out are missing", () => {
  const bytes = writtenContext("x64", 1).slice();
  new DataView(bytes.buffer).setUint32(0x30, 0x100001, true);
  const context = parseContext("x64", bytes);
  assert(context !== null);
  assert.deepEqual(namedRegisters(context).map(([name]) => name), ["rsp", "rip", "efl"]);
  new DataView(bytes.buffer).setUint32(0x30, 0x100002, true);
  assert.equal(parseContext("x64", bytes), null, "without a program counter there is nothing to start from");
});
