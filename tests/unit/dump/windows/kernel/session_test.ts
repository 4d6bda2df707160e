/** Machines of our own writer, opened from every container. */

import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import { MemorySource } from "../../../../../src/dump/bytes.ts";
import { openDump } from "../../../../../src/dump/open.ts";
import type { KernelSession } from "../../../../../src/dump/session.ts";
import { namedRegisters } from "../../../../../src/dump/windows/context.ts";
import { dumpMachine, machineHeader, PAGE_CONTAINERS, smallDump } from "../../../../support/machine_dump.ts";
import type { WrittenPaging } from "../../../../support/machine_memory.ts";
import {
  inPool,
  MEMBERS,
  PLACES,
  pointers,
  poolAddresses,
  writeMachine,
  writtenCounters,
  writtenDrivers,
} from "../../../../support/machine_writer.ts";
import { DumpBytes, joinBytes } from "../../../../support/dump_writer.ts";

function open(bytes: Uint8Array): KernelSession {
  const session = openDump(new MemorySource(bytes));
  assert(session.mode === "kernel");
  return session;
}

/** What every dump of the written machine must tell. */
function assertMachine(session: KernelSession, paging: WrittenPaging, what: string): void {
  const { bits } = session;
  const addresses = poolAddresses(bits);
  assert.deepEqual(
    session.modules.all.map(({ name, base, size, timeDateStamp, checkSum }) => ({
      name,
      base,
      size,
      timeDateStamp,
      checkSum,
    })),
    writtenDrivers(bits),
    what,
  );
  assert.equal(session.modules.at(PLACES[bits].driver + 0x2FFFn)?.name, "evil.sys");
  assert.equal(session.modules.at(PLACES[bits].driver + 0x3000n), null);
  assert.deepEqual(session.processors.map(({ prcb, mhz }) => [prcb, mhz]), [
    [addresses.prcbs[0], 3000],
    [addresses.prcbs[1], 3001],
  ], what);
  assert.equal(session.crashed?.processor.index, 1, what);
  assert.equal(session.thread?.address, addresses.threads[1], what);
  const { stack } = PLACES[bits];
  // The block of the written 32-bit kernel is as short as that of Windows 7, and does not tell.
  assert.deepEqual(session.thread?.stack, bits === 64 ? { limit: stack, base: stack + 0x6000n } : null, what);
  assert.deepEqual([session.process?.id, session.process?.imageName], [4, "System"], what);
  const [context] = session.contexts;
  assert.equal(context?.origin, "processor", what);
  assert.deepEqual(
    { programCounter: context?.registers.programCounter, stackPointer: context?.registers.stackPointer },
    writtenCounters(bits, 1),
    what,
  );
  assert.equal(
    context?.registers.general[paging === "arm64" ? 30 : 3],
    paging === "arm64" ? 0x101En : 0x1003n,
    what,
  );
  assert.equal(session.buildLab, "19041.1.test.made", what);
  assert.equal(session.bugCheck?.confirmed, true, what);
}

Deno.test("a machine is the same in every container of pages", () => {
  const machine = writeMachine("x64");
  for (const container of PAGE_CONTAINERS) {
    const session = open(dumpMachine(machine, container));
    assertMachine(session, "x64", container);
    assert.equal(session.physical?.pageCount, machine.pages.size);
    assert.deepEqual(session.unloaded.map(({ name, start }) => [name, start]), [
      ["gone.sys", PLACES[64].driver + 0x200000n],
      ["old.sys", PLACES[64].driver + 0x100000n],
    ], container);
    for (const [frame, page] of machine.pages) {
      assert.deepEqual(session.physical?.page(frame), page.bytes, `${container}: frame ${frame}`);
    }
    assert.deepEqual(session.physical?.page(0), { why: "not_in_dump", frame: 0 });
    assert.deepEqual(session.warnings, [], container);
  }
});

for (const paging of ["x64-5level", "x86-pae", "x86", "arm64"] as const) {
  Deno.test(`a machine with ${paging} tables is understood without being told`, () => {
    const machine = writeMachine(paging);
    for (const container of ["full", "summary"] as const) {
      const session = open(dumpMachine(machine, container));
      assert.equal(session.paging, paging);
      assertMachine(session, paging, `${paging} ${container}`);
      assert.deepEqual(session.warnings, []);
    }
  });
}

Deno.test("the header of a 32-bit machine may be wrong about its page tables", () => {
  const file = dumpMachine(writeMachine("x86-pae"), "full");
  file[0x5C] = 0;
  assert.equal(open(file).paging, "x86-pae");
  const narrow = dumpMachine(writeMachine("x86"), "full");
  narrow[0x5C] = 1;
  assert.equal(open(narrow).paging, "x86");
});

Deno.test("a small dump tells what the whole machine tells", () => {
  for (const paging of ["x64", "arm64"] as const) {
    const session = open(smallDump(writeMachine(paging)).bytes);
    assertMachine(session, paging, paging);
    assert.equal(session.crashed?.by, "triage_copy");
    assert.deepEqual(session.unloaded, [{
      name: "gone.sys",
      start: 0xFFFFF80020200000n,
      end: 0xFFFFF80020208000n,
      timeDateStamp: null,
      checkSum: null,
    }]);
    assert.equal(session.physical, null);
    assert.equal(session.memoryOf(0x1000n), null);
    const stack = session.memory.read(0xFFFFD00012343718n, 0x8E8);
    assert.equal(stack?.length, 0x8E8);
    assert.deepEqual(session.memory.segment(0xFFFFD00012344000n, 8), {
      bytes: null,
      absence: { why: "not_captured" },
      length: 8,
    });
    assert.deepEqual(session.warnings, []);
  }
});

Deno.test("parts of a small dump without their bit are not there, whatever their offsets say", () => {
  const machine = writeMachine("x64");
  const nothing = open(smallDump(machine, { parts: 0 }).bytes);
  assert.deepEqual([nothing.processors.length, nothing.thread, nothing.process], [0, null, null]);
  assert.equal(nothing.bugCheck?.code, 0xD1);
  assert.deepEqual(nothing.warnings.map(({ reason }) => reason).includes("no_kdbg"), true);
  const withoutThread = open(smallDump(machine, { parts: 0xCFF & ~0x18 }).bytes);
  assert.equal(withoutThread.thread?.address, poolAddresses(64).threads[1]);
  assert.equal(withoutThread.thread?.process, null);
  assert.equal(withoutThread.process, null);
});

Deno.test("the processor that crashed is found by its stack when the header holds the exception", () => {
  const machine = writeMachine("x64");
  const bytes = dumpMachine(machine, "full");
  new DataView(bytes.buffer).setBigUint64(0x348 + 0x98, 0xFFFFD00012345000n, true);
  assert.equal(open(bytes).crashed?.by, "stack_range");
  assert.equal(open(bytes).crashed?.processor.index, 1);
  new DataView(bytes.buffer).setBigUint64(0x348 + 0x98, 0xFFFFD00022345000n, true);
  assert.equal(open(bytes).crashed?.by, "assumed");
});

Deno.test("a dump from outside keeps a plain debugger data block at the first argument", () => {
  const machine = writeMachine("x64");
  const copy = inPool(64, 0x20000n);
  const { data } = PLACES[64];
  const block = machine.page(machine.frameFor(data)).bytes.slice(0, 0x380);
  machine.put(copy, block);
  machine.put(data, new Uint8Array(0x380).fill(0x5A));
  const file = dumpMachine(machine, "full");
  assert.equal(open(file).debuggerDataProblem, "kdbg_encoded");
  new DataView(file.buffer).setBigUint64(0x40, copy, true);
  assert.equal(open(file).debuggerData?.address, copy);
  assert.equal(open(file).processors.length, 2);
});

Deno.test("a block that the header names wrongly is searched for in the kernel's image", () => {
  const file = dumpMachine(writeMachine("x64"), "full");
  const view = new DataView(file.buffer);
  for (const wrong of [0n, 0xFFFFF80010003008n, 0xFFFFA0FF00000000n, 0x4547415045474150n]) {
    view.setBigUint64(0x80, wrong, true);
    const session = open(file);
    assert.equal(session.debuggerData?.address, PLACES[64].data);
    assert.equal(session.debuggerDataProblem, null);
    assert.deepEqual(session.warnings.map(({ reason }) => reason), ["no_kdbg"]);
    assert.equal(session.crashed?.processor.index, 1);
  }
});

Deno.test("a block of another kernel in the image is not taken", () => {
  const machine = writeMachine("x64");
  machine.put(PLACES[64].data + 0x18n, pointers(64, [PLACES[64].driver]));
  const file = dumpMachine(machine, "full");
  new DataView(file.buffer).setBigUint64(0x80, 0xFFFFA0FF00000000n, true);
  assert.equal(open(file).debuggerDataProblem, "no_kdbg");
});

Deno.test("kernels that do not tell where a stack ends tell where it began", () => {
  const machine = writeMachine("x64");
  const { data, stack } = PLACES[64];
  machine.put(data + 0x14n, new DumpBytes(4).u32(0, 0x340).bytes);
  machine.put(data + 0x29En, new DumpBytes(2).u16(0, 0x70).bytes);
  poolAddresses(64).threads.forEach((thread, index) => {
    machine.put(thread + 0x70n, pointers(64, [stack + (index === 1 ? 0x5F00n : 0x105F00n)]));
  });
  const file = dumpMachine(machine, "full");
  new DataView(file.buffer).setBigUint64(0x348 + 0x98, stack + 0x5000n, true);
  const session = open(file);
  assert.deepEqual([session.crashed?.by, session.crashed?.processor.index], ["stack_range", 1]);
  assert.deepEqual([session.thread?.stack, session.thread?.initialStack], [null, stack + 0x5F00n]);
});

Deno.test("the exception is the one that the arguments tell, with what the header knows of it", () => {
  const file = dumpMachine(writeMachine("x64"), "full");
  const view = new DataView(file.buffer);
  view.setUint32(0x38, 0x1E, true);
  [0xFFFFFFFFC0000005n, 0xFFFFF80020001234n, 1n, 0x10n].forEach((value, index) =>
    view.setBigUint64(0x40 + 8 * index, value, true)
  );
  const told = open(file).exception;
  assert.deepEqual(
    [told?.origin, told?.code, told?.address, told?.parameters],
    ["bugcheck_arguments", 0xC0000005, 0xFFFFF80020001234n, [1n, 0x10n]],
  );
  view.setUint32(0xF00, 0xC0000005, true);
  view.setBigUint64(0xF10, 0xFFFFF80020001234n, true);
  const recorded = open(file).exception;
  assert.deepEqual([recorded?.origin, recorded?.flags, recorded?.synthetic], ["header", 1, false]);
});

Deno.test("a trap frame that an argument names is where to start, without the registers that it lacks", () => {
  const machine = writeMachine("x64");
  const frame = PLACES[64].stack + 0x2100n;
  machine.put(
    frame,
    new DumpBytes(0x190).u64(0x168, 0xFFFFF80020001234n).u64(0x180, 0xFFFFD00012344000n).bytes,
  );
  const file = dumpMachine(machine, "full");
  const view = new DataView(file.buffer);
  view.setUint32(0x38, 0x139, true);
  view.setBigUint64(0x48, frame, true);
  view.setBigUint64(0x50, 0xFFFFA0FF00000000n, true);
  const session = open(file);
  assert.deepEqual(session.contexts.map(({ origin }) => origin), ["trap_frame", "processor", "header"]);
  const registers = session.contexts[0]?.registers;
  assert.deepEqual([registers?.programCounter, registers?.stackPointer], [
    0xFFFFF80020001234n,
    0xFFFFD00012344000n,
  ]);
  assert.deepEqual(registers?.missing, [3, 6, 7, 12, 13, 14, 15]);
  assert.equal(session.exception?.origin, "header", "the record at argument 3 is not in the dump");
});

Deno.test("a debugger data block of an impossible size is not read", () => {
  for (const size of [0, 0x28F, 0x1001, 0xFFFFFFFF]) {
    const machine = writeMachine("x64");
    machine.put(PLACES[64].data + 0x14n, new DumpBytes(4).u32(0, size).bytes);
    const session = open(dumpMachine(machine, "full"));
    assert.equal(session.debuggerData, null);
    assert.equal(session.modules.all.length, 2);
  }
});

Deno.test("a short block of an old kernel tells no newer fields", () => {
  const machine = writeMachine("x64");
  machine.put(PLACES[64].data + 0x14n, new DumpBytes(4).u32(0, 0x2E8).bytes);
  const { debuggerData } = open(dumpMachine(machine, "full"));
  assert.equal(debuggerData?.offset("prcb_context"), null);
  assert.equal(debuggerData?.offset("prcb_number"), MEMBERS.prcb.number);
});

Deno.test("page tables that map nothing are told, and nothing is invented", () => {
  const machine = writeMachine("x64");
  const file = dumpMachine(machine, "fdmp");
  new DataView(file.buffer).setBigUint64(0x10, 0x7FFF_0000n, true);
  const session = open(file);
  assert.deepEqual([session.modules.all.length, session.debuggerData, session.thread], [0, null, null]);
  assert.equal(session.warnings[0]?.reason, "bad_dtb");
  assert.deepEqual(session.contexts.map(({ origin }) => origin), ["header"]);
});

Deno.test("the memory of a process is read through its own page table", () => {
  const machine = writeMachine("x64");
  const user = 0x7FF612340000n;
  const frame = machine.newPage();
  machine.page(frame).text(0, "private");
  const root = machine.newPage();
  // The tables of another process, made by hand inside this machine.
  const tables = [root, machine.newPage(), machine.newPage(), machine.newPage()];
  [39, 30, 21, 12].forEach((shift, level) => {
    const next = level === 3 ? frame : tables[level + 1] ?? 0;
    const index = Number((user >> BigInt(shift)) & 0x1FFn);
    machine.page(tables[level] ?? 0).u64(index * 8, BigInt(next * 4096) | 0x67n);
  });
  const session = open(dumpMachine(machine, "full"));
  assert.equal(session.memory.has(user), false);
  assert.equal(session.memoryOf(BigInt(root * 4096))?.ascii(user), "private");
});

Deno.test("a dump that is cut keeps what is there", () => {
  const machine = writeMachine("x64");
  const file = dumpMachine(machine, "full");
  const session = open(file.subarray(0, file.length - 4096 * 2 - 5));
  const frames = [...machine.pages.keys()].sort((a, b) => a - b);
  const last = frames.at(-1) ?? 0;
  assert.deepEqual(session.physical?.page(last), { why: "truncated", frame: last });
  assert.deepEqual(session.physical?.page(frames.at(-3) ?? 0), { why: "truncated", frame: frames.at(-3) });
  assert(session.physical?.page(frames.at(-4) ?? 0) instanceof Uint8Array);
  assert.equal(session.warnings[0], undefined);
  assert.equal(session.modules.all.length, 2);
});

Deno.test("registers are named as debuggers name them, in a fixed order", () => {
  const session = open(dumpMachine(writeMachine("x86"), "full"));
  const [context] = session.contexts;
  assert(context !== undefined);
  assert.deepEqual(namedRegisters(context.registers), [
    ["eax", 0x1000n],
    ["ecx", 0x1001n],
    ["edx", 0x1002n],
    ["ebx", 0x1003n],
    ["ebp", 0x1005n],
    ["esi", 0x1006n],
    ["edi", 0x1007n],
    ["esp", 0x8B002F54n],
    ["eip", 0xF7A01009n],
    ["efl", 0x246n],
  ]);
});

Deno.test("a header without a body that can be read is refused with a reason", () => {
  const machine = writeMachine("x64");
  const refused = (bytes: Uint8Array, reason: string) => assert.throws(() => open(bytes), hasReason(reason));
  refused(machineHeader(machine, 3).bytes, "unsupported_kind");
  refused(machineHeader(machine, 1).bytes.subarray(0, 0x1FFF), "too_short");
  refused(machineHeader(machine, 1).u32(0x1050, 0x100).bytes, "encrypted");
  refused(machineHeader(machine, 1).u32(0x30, 0x200).bytes, "unsupported_kind");
  refused(joinBytes(machineHeader(machine, 0x41).bytes, new Uint8Array(4096)), "unsupported_kind");
});

function hasReason(reason: string): (thrown: unknown) => boolean {
  return (thrown) =>
    thrown instanceof HvError && thrown.code === "hv.bad_dump" && thrown.context["reason"] === reason;
}
