import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openDump } from "../../../../src/dump/open.ts";
import type { UserSession } from "../../../../src/dump/session.ts";
import { DumpBytes, joinBytes } from "../../../support/dump_writer.ts";
import { writtenContext } from "../../../support/machine_writer.ts";
import { MinidumpWriter } from "../../../support/minidump_writer.ts";

const X64 = 9;
const X86 = 0;
const ARM = 5;
const ARM64 = 12;

function open(bytes: Uint8Array): UserSession {
  const session = openDump(new MemorySource(bytes));
  assert(session.mode === "user");
  return session;
}

function reasons(session: UserSession): string[] {
  return session.warnings.map(({ reason }) => reason);
}

function reasonOf(bytes: Uint8Array): unknown {
  try {
    open(bytes);
  } catch (thrown) {
    assert(thrown instanceof HvError && thrown.code === "hv.bad_dump");
    return thrown.context["reason"];
  }
  return null;
}

const STACK = new Uint8Array(64).fill(0x11);
const CONTEXT = writtenContext("x64", 1);

Deno.test("threads have their registers, stacks and names", () => {
  const session = open(
    new MinidumpWriter()
      .system(X64)
      .threads([
        { id: 7, teb: 0x7FF000n, context: CONTEXT, stack: [0x5000n, STACK] },
        { id: 8, context: writtenContext("arm64", 1) },
        { id: 9 },
      ])
      .threadNames([[8, "worker"]])
      .finish(),
  );
  assert.deepEqual(session.threads.map(({ id, teb, name, suspendCount }) => [id, teb, name, suspendCount]), [
    [7, 0x7FF000n, null, 1],
    [8, 0n, "worker", 1],
    [9, 0n, null, 1],
  ]);
  const [first, second, third] = session.threads;
  assert.equal(first?.context?.programCounter, 0xFFFFF800100010A4n);
  assert.equal(second?.context, null, "a context of another processor");
  assert.equal(third?.context, null);
  assert.deepEqual([first?.stack?.address, first?.stack?.size], [0x5000n, 64]);
  assert.deepEqual(session.memory.read(0x5000n, 64), STACK, "stacks are memory as well");
  assert.deepEqual(session.contexts.map(({ origin }) => origin), ["thread"]);
  assert.deepEqual([session.exception, session.bits, session.build], [null, 64, 19045]);
  assert.deepEqual(session.warnings, []);
});

Deno.test("the longer form of the thread list is read when there is no other", () => {
  const session = open(
    new MinidumpWriter().system(X64).threads([{ id: 1, context: CONTEXT }, { id: 2 }], true).finish(),
  );
  assert.deepEqual(session.threads.map(({ id }) => id), [1, 2]);
  assert.equal(session.threads[0]?.context?.machine, "x64");
});

Deno.test("the exception's own context comes before its thread's", () => {
  const own = writtenContext("x64", 0);
  const session = open(
    new MinidumpWriter()
      .system(X64)
      .threads([{ id: 1 }, { id: 2, context: CONTEXT }])
      .exception(2, 0xC0000005, 0x401000n, own)
      .finish(),
  );
  assert.deepEqual(session.contexts.map(({ origin, registers }) => [origin, registers.programCounter]), [
    ["exception", 0xFFFFF80010001090n],
    ["thread", 0xFFFFF800100010A4n],
  ]);
  assert.deepEqual(session.exception, {
    code: 0xC0000005,
    flags: 1,
    address: 0x401000n,
    parameters: [7n],
    threadId: 2,
    origin: "stream",
    synthetic: false,
  });
});

Deno.test("modules have versions and every form of identity", () => {
  const records = {
    rsds: new DumpBytes(36).text(0, "RSDS").u32(4, 0xAABBCCDD).u32(20, 2).text(24, "d:\\x\\a.pdb"),
    nb10: new DumpBytes(28).text(0, "NB10").u32(8, 0x1234ABCD, 5).text(16, "old.pdb"),
    elf: new DumpBytes(8).u32(0, 0x4270454C).u8(4, 0xDE).u8(5, 0xAD).u8(6, 0xBE).u8(7, 0xEF),
    cut: new DumpBytes(20).text(0, "RSDS"),
    evil: new DumpBytes(40).text(0, "RSDS").u32(20, 1).text(24, "x\\..\\.."),
  };
  const session = open(
    new MinidumpWriter().system(X64).modules([
      {
        base: 0x400000n,
        size: 0x1000,
        name: "C:\\bin\\a.exe",
        record: records.rsds.bytes,
        version: [10, 2, 3, 4],
      },
      { base: 0x500000n, size: 0x1000, name: "/usr/lib/b.so", record: records.elf.bytes },
      { base: 0x600000n, size: 0x1000, name: "c.dll", record: records.nb10.bytes },
      { base: 0x700000n, size: 0x1000, name: "d.dll", record: records.cut.bytes },
      { base: 0x800000n, size: 0x1000, name: "e.dll", record: records.evil.bytes },
    ]).finish(),
  );
  const { all } = session.modules;
  assert.deepEqual(all.map(({ name }) => name), ["a.exe", "b.so", "c.dll", "d.dll", "e.dll"]);
  assert.deepEqual(all[0]?.version, { file: "10.2.3.4", product: "10.2.3.4" });
  assert.equal(all[1]?.version, null);
  assert.deepEqual(all.map(({ codeView }) => codeView?.id ?? null), [
    "AABBCCDD000000000000000000000000",
    "DEADBEEF",
    "1234ABCD",
    null,
    "00000000000000000000000000000000",
  ]);
  assert.deepEqual(all.map(({ codeView }) => codeView?.name ?? null), ["a.pdb", null, "old.pdb", null, null]);
  assert.equal(session.modules.at(0x500FFFn)?.name, "b.so");
  assert.equal(session.modules.at(0x501000n), null);
});

Deno.test("a list may be aligned to eight bytes behind its count", () => {
  const session = open(
    new MinidumpWriter().system(X64).modules([{ base: 0x400000n, size: 1, name: "a.exe" }], 4).finish(),
  );
  assert.deepEqual([session.modules.all[0]?.base, session.modules.truncated], [0x400000n, false]);
});

Deno.test("memory of both lists is read, and 64-bit ranges follow each other", () => {
  const bytes = (seed: number, length: number) => new Uint8Array(length).fill(seed);
  const session = open(
    new MinidumpWriter()
      .system(X64)
      .memory([[0x1000n, bytes(1, 16)], [0x7FFFFFFF0000n, bytes(2, 8)]])
      .memory64([[0x2000n, bytes(3, 10)], [0x200An, bytes(4, 6)], [0x9000n, bytes(5, 4)]])
      .finish(2n),
  );
  assert.equal(session.kind, "minidump_full_memory");
  assert.deepEqual(session.memory.read(0x2008n, 8), Uint8Array.of(3, 3, 4, 4, 4, 4, 4, 4));
  assert.deepEqual(session.memory.read(0x7FFFFFFF0004n, 4), bytes(2, 4));
  assert.deepEqual(session.memory.read(0x9000n, 4), bytes(5, 4));
  assert.equal(session.memory.read(0x9000n, 5), undefined);
});

Deno.test("unloaded modules with longer elements than known are read", () => {
  const session = open(
    new MinidumpWriter().system(X64).unloaded([[0x1000n, 0x200, "C:\\gone.dll"], [0x3000n, 1, "b.dll"]], 40)
      .finish(),
  );
  assert.deepEqual(session.unloaded, [
    { name: "gone.dll", start: 0x1000n, end: 0x1200n, timeDateStamp: 0x22, checkSum: 0x11 },
    { name: "b.dll", start: 0x3000n, end: 0x3001n, timeDateStamp: 0x22, checkSum: 0x11 },
  ]);
});

Deno.test("lists that claim more than there is are cut with a warning", () => {
  const huge = new DumpBytes(4 + 108).u32(0, 0xFFFFFFFF).bytes;
  const session = open(
    new MinidumpWriter()
      .system(X64)
      .stream(4, huge)
      .stream(3, new DumpBytes(4 + 48).u32(0, 0x7FFFFFFF).bytes)
      .memory64([[0x1000n, new Uint8Array(8)]], 0xFFFFFFFFFFFFFFFFn)
      .finish(),
  );
  assert.deepEqual([session.modules.all.length, session.modules.truncated], [1, true]);
  assert.equal(session.threads.length, 1);
  assert.equal(session.memory.has(0x1007n), true);
  assert.deepEqual(reasons(session), ["stream_damaged", "stream_damaged", "stream_damaged"]);
});

Deno.test("names and records that lie outside the file cost only themselves", () => {
  const row = new DumpBytes(108).u64(0, 0x400000n).u32(8, 0x1000, 0, 0, 0x7FFFFFFF).u32(
    0x4C,
    0x100,
    0x7FFFFFF0,
  );
  const session = open(
    new MinidumpWriter().system(X64).stream(4, joinBytes(new DumpBytes(4).u32(0, 1).bytes, row.bytes))
      .finish(),
  );
  const [module] = session.modules.all;
  assert.deepEqual([module?.name, module?.base, module?.codeView], ["module at 0x400000", 0x400000n, null]);
  assert.deepEqual(reasons(session), ["truncated", "truncated"]);
});

Deno.test("processes of all three processors are opened, others are refused", () => {
  const context = (architecture: number, bytes: Uint8Array) =>
    open(new MinidumpWriter().system(architecture).threads([{ id: 1, context: bytes }]).finish());
  const x86 = context(X86, writtenContext("x86", 1));
  assert.deepEqual([x86.bits, x86.contexts[0]?.registers.programCounter], [32, 0xF7A01009n]);
  const arm64 = context(ARM64, writtenContext("arm64", 1));
  assert.deepEqual([arm64.machine, arm64.contexts[0]?.registers.general[30]], ["arm64", 0x101En]);
  assert.equal(reasonOf(new MinidumpWriter().system(ARM).finish()), "unsupported_kind");
  assert.equal(reasonOf(new MinidumpWriter().threads([]).finish()), "stream_missing");
  assert.equal(
    open(new MinidumpWriter().system(X64, 0x8201).finish()).build,
    null,
    "Linux has no Windows build",
  );
});
