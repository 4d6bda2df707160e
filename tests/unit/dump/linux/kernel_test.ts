/** A small machine of our own, read in every container and every way in which kernels write their tables. */

import assert from "node:assert/strict";
import { deflateSync, zstdCompressSync } from "node:zlib";
import { openLinuxKernel } from "../../../../src/debugger/linux/open_kernel.ts";
import { symbolsAt } from "../../../../src/debugger/linux/symbol_file.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import type { LinuxKernel } from "../../../../src/dump/linux/kernel/kernel.ts";
import { dmesgLines } from "../../../../src/dump/linux/kernel/log_record.ts";
import { readVmlinux, SymbolTable } from "../../../../src/dump/linux/kernel/symbol_table.ts";
import { parseConsole } from "../../../../src/dump/linux/console/parse.ts";
import { findCrashStack, nameFrames } from "../../../../src/dump/linux/triage/crash_stack.ts";
import { elfCoreOf, flattenedOf, kdumpOf, type PackedPage } from "../../../support/linux_core_writer.ts";
import { type Encoding, LinuxMachine, type OrcForm, PLACES } from "../../../support/linux_machine.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { assertDumpRefused } from "../../../support/refused.ts";
import { literalSnappy, lzoOf } from "../../../support/page_packers.ts";

async function open(bytes: Uint8Array): Promise<LinuxKernel> {
  return await openLinuxKernel(new MemorySource(bytes));
}

/** All that the machine holds. */
function assertMachine(kernel: LinuxKernel): void {
  assert.equal(kernel.info.release, "6.1.0-test");
  const lines = kernel.log()?.records.flatMap(dmesgLines);
  assert.deepEqual(lines, [
    "[    0.000001] Linux version 6.1.0-test",
    "[    1.000001] BUG: kernel NULL pointer dereference, address: 0000000000000018",
  ]);
  assert.equal(kernel.symbols()?.addressOf("filler_1099"), PLACES.data + 0x8000n + 16n * 1099n);
  assert.equal(kernel.symbols()?.addressOf("filler_1100"), null);
  assert.deepEqual(kernel.tasks().map(({ pid, comm, state }) => [pid, comm, state]), [
    [42, "sh", "R"],
    [43, "sleeper", "D"],
  ]);
  assert.deepEqual(kernel.modules().map(({ name, base, size }) => [name, base, size]), [[
    "mymod",
    PLACES.module,
    0x1000,
  ]]);
  assert.equal(kernel.taint()?.letters, "GO");
  const stack = findCrashStack(kernel, parseConsole(lines ?? []));
  assert.equal(stack?.origin, "exception");
  assert.equal(stack?.task?.comm, "sh");
  assert.equal(stack?.end, "bottom");
  assert.deepEqual(
    stack?.frames.map((
      { frame, place },
    ) => [place.module, place.symbol?.name, place.symbol?.offset, frame.how]),
    [
      ["mymod", "mymod_fault", 8, "machine_frame"],
      ["vmlinux", "caller", 0x10, "unwind"],
      ["vmlinux", "entry", 0x10, "unwind"],
    ],
  );
  const sleeper = kernel.tasks().find(({ pid }) => pid === 43);
  const waiting = sleeper === undefined ? null : kernel.walkTask(sleeper);
  assert.deepEqual(
    waiting === null ? null : nameFrames(kernel, waiting).map(({ place }) => place.symbol?.name),
    ["caller", "entry"],
  );
  assert.deepEqual(kernel.warnings, []);
}

const ENCODINGS: readonly Encoding[] = ["percpu-absolute", "unsigned", "place-relative"];
const FORMS: readonly OrcForm[] = ["end_bit", "end_bit_behind_signal", "end_type", "end_type_new_registers"];

for (const encoding of ENCODINGS) {
  Deno.test(`symbols whose addresses are ${encoding}`, async () => {
    const kernel = await open(elfCoreOf(new LinuxMachine({ encoding })));
    assert.equal(kernel.kallsyms()?.encoding, encoding);
    assertMachine(kernel);
  });
}

for (const orc of FORMS) {
  Deno.test(`unwind rows of the form ${orc}`, async () => {
    assertMachine(await open(elfCoreOf(new LinuxMachine({ orc }))));
  });
}

const raw = (page: Uint8Array): PackedPage => [0, page];
const PACKERS: Readonly<Record<string, (page: Uint8Array, index: number) => PackedPage>> = {
  raw,
  zlib: (page) => [1, deflateSync(page)],
  lzo: (page) => [2, lzoOf(page)],
  snappy: (page) => [4, literalSnappy(page)],
  zstd: (page) => [0x20, zstdCompressSync(page)],
};

for (const [name, pack] of Object.entries(PACKERS)) {
  Deno.test(`a kdump whose pages are packed with ${name}`, async () => {
    const kernel = await open(kdumpOf(new LinuxMachine(), pack));
    assertMachine(kernel);
    assert.equal(kernel.core.kind, "kdump");
  });
}

for (const block of [16_384, 65_536]) {
  Deno.test(`a kdump whose pages have ${block} bytes`, async () => {
    const kernel = await open(kdumpOf(new LinuxMachine(), (page) => [1, deflateSync(page)], block));
    assertMachine(kernel);
    const found = [...kernel.core.pieces()].find(({ bytes }) => bytes.length !== block);
    assert.equal(found, undefined, "a search goes over whole pages");
  });
}

Deno.test("a flattened kdump with records out of order that overlap", async () => {
  const kernel = await open(flattenedOf(kdumpOf(new LinuxMachine(), raw)));
  assertMachine(kernel);
  assert.equal(kernel.core.kind, "kdump_flattened");
});

Deno.test("a flattened kdump that is cut says so", async () => {
  const bytes = flattenedOf(kdumpOf(new LinuxMachine(), raw));
  const kernel = await open(bytes.subarray(0, bytes.length - 16));
  assert.deepEqual(kernel.warnings.map(({ reason }) => reason), ["truncated"]);
});

Deno.test("a page of an unknown filter is missing, and the filter is named", async () => {
  const kernel = await open(kdumpOf(new LinuxMachine(), (page, index) => [index % 2 === 0 ? 0 : 0x40, page]));
  kernel.log();
  assert(
    kernel.warnings.some(({ message }) => message === "Pages packed with filter 64 cannot be unpacked here"),
  );
});

Deno.test("a core without a note is searched for the kernel's own copy", async () => {
  const machine = new LinuxMachine({
    damage: (each) => {
      const text = new TextEncoder().encode(each.vmcoreinfo);
      const place = PLACES.data + 0x1_0000n;
      each.u32(place, 11, text.length, 0).put(place + 12n, new TextEncoder().encode("VMCOREINFO\0\0")).put(
        place + 24n,
        text,
      );
    },
  });
  const kernel = await open(elfCoreOf(machine, false));
  assert.equal(kernel.info.foundBy, "scan");
  assertMachine(kernel);
});

Deno.test("a core without VMCOREINFO anywhere is refused", async () => {
  await assertDumpRefused("vmcoreinfo", () => open(elfCoreOf(new LinuxMachine(), false)));
});

Deno.test("memory behind the end of a cut core is missing, and how much is told", async () => {
  const bytes = elfCoreOf(new LinuxMachine());
  const kernel = await open(bytes.subarray(0, bytes.length - 4096 * 10));
  assert(kernel.warnings.some(({ message }) => message.startsWith("40960 bytes of memory")));
});

Deno.test("large pages, and the mark of encrypted memory in entries", async () => {
  const machine = new LinuxMachine({
    damage: (each) => {
      // One entry of 2 MiB for the text, as kernels map it.
      each.setEntry(PLACES.text, 2, 0x1000000n | 0x83n);
    },
  });
  assertMachine(await open(elfCoreOf(machine)));
});

Deno.test("a kernel without types gives its log and the stack of the crash up to the first module", async () => {
  const machine = new LinuxMachine({
    symbols: (name) => name !== "__start_BTF",
    damage: (each) => each.u64(PLACES.stack + 0x30A0n, PLACES.text + 0x1310n),
  });
  const kernel = await open(elfCoreOf(machine));
  const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
  assert.deepEqual(
    nameFrames(kernel, walk).map(({ place }) => place.symbol?.name),
    ["panic", "oops_end", "asm_exc_page_fault", "victim", "caller", "entry"],
  );
  assert.equal(walk.end, "bottom");
  assert.deepEqual(kernel.tasks(), []);
  assert.deepEqual(kernel.warnings.map(({ reason }) => reason), ["btf"]);
  const inModule = await open(elfCoreOf(new LinuxMachine({ symbols: (name) => name !== "__start_BTF" })));
  assert.equal(inModule.walk(inModule.processors()[0]?.saved.context ?? assert.fail()).end, "no_module");
});

/** The machine with its own symbols lost, and a System.map for a kernel that was moved by 16 MiB. */
function withMap(moved: bigint): { machine: LinuxMachine; map: string } {
  const machine = new LinuxMachine({ damage: (each) => each.put(PLACES.names, Uint8Array.of(0)), moved });
  const map = machine.symbols.map(([name, address]) =>
    `${(address - moved).toString(16).padStart(16, "0")} T ${name}`
  ).join("\n");
  return { machine, map };
}

Deno.test("a System.map stands in for symbols that are lost", async () => {
  const { machine, map } = withMap(0x100_0000n);
  const files = new MemoryFiles({ "/maps/System.map-6.1.0-test": { bytes: new TextEncoder().encode(map) } });
  for (const path of ["/maps/System.map-6.1.0-test", "/maps"]) {
    const kernel = await openLinuxKernel(new MemorySource(elfCoreOf(machine)), await symbolsAt(files, path));
    const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
    assert.deepEqual(nameFrames(kernel, walk).map(({ place }) => place.symbol?.name).slice(0, 4), [
      "panic",
      "oops_end",
      "asm_exc_page_fault",
      "mymod_fault",
    ]);
    assert.deepEqual(kernel.warnings.map(({ reason }) => reason), ["kallsyms"]);
  }
});

Deno.test("a System.map of another kernel is not used", async () => {
  const { machine, map } = withMap(0x100_0000n);
  const wrong = map.replace(/^[0-9a-f]{16} T _stext$/m, "ffffffff81000000 T _stext");
  const files = new MemoryFiles({ "/map": { bytes: new TextEncoder().encode(wrong) } });
  const kernel = await openLinuxKernel(new MemorySource(elfCoreOf(machine)), await symbolsAt(files, "/map"));
  assert.equal(kernel.symbols(), null);
  assert.deepEqual(kernel.warnings.map(({ reason }) => reason), ["kallsyms", "kallsyms"]);
});

Deno.test("the symbol table of a vmlinux", () => {
  const strings = "\0_stext\0victim\0file.c\0";
  const table = new DumpBytes(96).u32(24, 1).u64(32, 0xFFFF_FFFF_8100_0000n)
    .u32(48, 8).u64(56, 0xFFFF_FFFF_8100_0100n).u32(72, 15).u8(76, 4).u64(80, 0x1234n);
  const file = new DumpBytes(64 + 3 * 64 + 96 + strings.length).text(0, "\x7FELF\x02\x01\x01")
    .u64(0x28, 64n).u16(0x3C, 3)
    .u32(128 + 4, 2).u64(128 + 0x18, 256n, 96n).u32(128 + 0x28, 2)
    .u32(192 + 4, 3).u64(192 + 0x18, 352n, BigInt(strings.length)).text(352, strings);
  file.bytes.set(table.bytes, 256);
  const symbols = new SymbolTable(readVmlinux(new MemorySource(file.bytes)), 0x20_0000n);
  assert.equal(symbols.count, 2);
  assert.equal(symbols.addressOf("victim"), 0xFFFF_FFFF_8120_0100n);
  assert.deepEqual(symbols.at(0xFFFF_FFFF_8120_0080n), {
    name: "_stext",
    start: 0xFFFF_FFFF_8120_0000n,
    size: 0x100,
  });
});

Deno.test("symbols of an ARM64 file are moved as the kernel was, places in a processor's own memory are not", () => {
  const table = new SymbolTable([["_stext", 0xFFFF_8000_0801_0000n], ["offset", 0x2000n]], 0x20_0000n);
  assert.equal(table.addressOf("_stext"), 0xFFFF_8000_0821_0000n);
  assert.equal(table.addressOf("offset"), 0x2000n);
});
