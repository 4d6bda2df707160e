import assert from "node:assert/strict";
import type { DumpInspection } from "../../../../src/contract/dump.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { inspectDump } from "../../../../src/dump/inspect.ts";
import {
  bitmapDump,
  fullDump32,
  fullDump64,
  kernelHeader32,
  kernelHeader64,
  rangeDump,
  summaryDump64,
  TRIAGE_PARTS,
  triageDump64,
} from "../../../support/dump_writer.ts";

async function inspect(
  bytes: Uint8Array,
  path = "memory.dmp",
  allocatedBytes?: number,
): Promise<DumpInspection> {
  return await inspectDump(new MemorySource(bytes), {
    path,
    ...(allocatedBytes === undefined ? {} : { allocatedBytes }),
  });
}

function reasons(inspection: DumpInspection): string[] {
  return inspection.warnings.map(({ reason }) => reason);
}

Deno.test("a full 64-bit dump", async () => {
  const found = await inspect(fullDump64([[1n, 3n], [0x10n, 2n]]), "a b.dmp");
  assert.equal(found.path, "a b.dmp");
  assert.equal(found.os_version, "10.0.19041");
  assert.equal(found.dump_kind, "full");
  assert.equal(found.bugcheck_code, "0x000000d1");
  assert.equal(found.arg1, "0xffffa00000deadb0");
  assert.equal(found.arg2, "0x0000000000000002");
  assert.equal(found.arg3, "0x0000000000000000");
  assert.equal(found.arg4, "0xfffff800200010ec");
  assert.equal(found.directory_table_base, "0x00000000001ad002");
  assert.equal(found.kd_debugger_data_block, "0xfffff80010003000");
  assert.equal(found.os_name, "Windows 10 2004");
  assert.equal(found.build_kind, "free");
  assert.equal(found.machine, "x64");
  assert.equal(found.processors, 2);
  assert.equal(found.time, "2024-01-17T21:20:00Z");
  assert.equal(found.uptime_s, 1234.56789);
  assert.equal(found.product, "workstation");
  assert.deepEqual(found.suite, ["terminal", "single_user_terminal"]);
  assert.equal(found.attributes, null);
  assert.equal(found.encrypted, null);
  assert.equal(found.comment, null);
  assert.equal(found.program_counter, "0xfffff800100010a4");
  assert.equal(found.stack_pointer, "0xffffd00012343718");
  assert.deepEqual(found.exception_parameters, ["0x0000000000000007"]);
  assert.deepEqual(found.runs, [
    { first_page: "0x0000000000000001", pages: 3 },
    { first_page: "0x0000000000000010", pages: 2 },
  ]);
  assert.equal(found.pages, 5);
  assert.equal(found.pages_missing, 0);
  assert.equal(found.expected_size_bytes, 0x2000 + 5 * 4096);
  assert.equal(found.actual_size_bytes, 0x2000 + 5 * 4096);
  assert.deepEqual(found.warnings, []);
});

Deno.test("a full 32-bit dump has 8-digit values and says whether PAE was on", async () => {
  const found = await inspect(fullDump32([[3, 1], [0x10, 2]]));
  assert.equal(found.os_version, "6.1.7601");
  assert.equal(found.os_name, "Windows Server 2008 R2 SP1");
  assert.equal(found.machine, "x86");
  assert.equal(found.arg4, "0xf7a01009");
  assert.equal(found.directory_table_base, "0x00003020");
  assert.equal(found.pae, true);
  assert.equal(found.product, "server");
  assert.equal(found.uptime_s, 5);
  assert.equal(found.program_counter, "0xf7a01009");
  assert.equal(found.expected_size_bytes, 0x1000 + 3 * 4096);
  assert.deepEqual(found.warnings, []);
});

Deno.test("missing pages are counted, a longer file is normal", async () => {
  const short = await inspect(fullDump64([[0n, 10n]], 4));
  assert.deepEqual(reasons(short), ["truncated"]);
  assert.equal(short.pages_missing, 6);
  assert.deepEqual(reasons(await inspect(fullDump64([[0n, 2n]], 5))), []);
});

Deno.test("impossible runs are warnings with the header printed", async () => {
  const none = fullDump64([]);
  assert.deepEqual(reasons(await inspect(none)), ["run_count"]);
  const many = kernelHeader64(1).u32(0x88, 43).bytes;
  assert.deepEqual(reasons(await inspect(many)), ["run_count"]);
  const overflow = fullDump64([[1n, 0x7FFFFFFFFFFFFFFFn]], 2);
  const found = await inspect(overflow);
  assert.deepEqual(reasons(found), ["run_overflow"]);
  assert.equal(found.expected_size_bytes, null);
  assert.equal(found.bugcheck_code, "0x000000d1");
  assert.deepEqual(reasons(await inspect(fullDump64([[2n, 4n], [0n, 3n]]))), ["run_overlap"]);
  const filler = kernelHeader64(1).bytes;
  assert.deepEqual(reasons(await inspect(filler)), ["body_unusable"]);
  assert.equal((await inspect(filler)).runs, null);
});

Deno.test("a wrong page count is reported and the runs are trusted", async () => {
  const bytes = fullDump64([[0n, 2n]]);
  new DataView(bytes.buffer).setBigUint64(0x90, 9n, true);
  const found = await inspect(bytes);
  assert.deepEqual(reasons(found), ["page_count_mismatch"]);
  assert.equal(found.warnings[0]?.expected, 9);
  assert.equal(found.warnings[0]?.actual, 2);
  assert.equal(found.pages, 2);
});

Deno.test("bitmap dumps of both kinds", async () => {
  for (const [type, signature, kind] of [[5, "FDMP", "bitmap_full"], [6, "SDMP", "bitmap_kernel"]] as const) {
    const found = await inspect(bitmapDump(type, signature, [0xFF, 0x01, 0x80]));
    assert.equal(found.dump_kind, kind);
    assert.equal(found.pages, 10);
    assert.equal(found.bitmap_bits, 24);
    assert.equal(found.first_page_offset, 0x203B);
    assert.equal(found.expected_size_bytes, 0x203B + 10 * 4096);
    assert.deepEqual(found.warnings, []);
  }
});

Deno.test("spare bits of a bitmap's last byte are no pages", async () => {
  const found = await inspect(bitmapDump(5, "FDMP", [0x07, 0xF5], { bits: 13n, pages: 6n }));
  assert.equal(found.pages, 6);
  assert.deepEqual(found.warnings, []);
});

Deno.test("impossible bitmaps are warnings", async () => {
  const huge = bitmapDump(5, "FDMP", [1], { bits: 0xFFFFFFFFFFFFFFFFn });
  assert.deepEqual(reasons(await inspect(huge)), ["bitmap_size"]);
  assert.equal((await inspect(huge)).bitmap_bits, "0xffffffffffffffff");
  assert.deepEqual(reasons(await inspect(bitmapDump(5, "FDMP", [1], { bits: 80_000n }))), ["bitmap_size"]);
  assert.deepEqual(reasons(await inspect(bitmapDump(6, "SDMP", [3], { pages: 9n }))), [
    "page_count_mismatch",
  ]);
  assert.deepEqual(reasons(await inspect(bitmapDump(6, "SDMP", [3], { firstPage: 0x10n }))), ["body_offset"]);
  assert.deepEqual(reasons(await inspect(bitmapDump(6, "SDMP", [0xFF], { held: 2 }))), ["truncated"]);
});

Deno.test("the body's signature wins over DumpType, and the contradiction is told", async () => {
  const found = await inspect(bitmapDump(5, "SDMP", [1]));
  assert.equal(found.dump_kind, "bitmap_kernel");
  assert.equal(found.dump_type, 5);
  assert.deepEqual(reasons(found), ["kind_mismatch"]);
  assert.equal((await inspect(bitmapDump(7, "SDMP", [1]))).dump_kind, "automatic");
  assert.deepEqual(reasons(await inspect(bitmapDump(6, "XXXX", [1]))), ["body_unusable"]);
  const ranges = rangeDump(9, [[1n, 1n]]);
  new DataView(ranges.buffer).setUint32(0xF98, 5, true);
  assert.equal((await inspect(ranges)).dump_kind, "rdmp_complete");
  assert.deepEqual(reasons(await inspect(ranges)), ["kind_mismatch"]);
});

Deno.test("a kernel summary is told from a bitmap", async () => {
  const found = await inspect(summaryDump64([0xFF, 0x03], 10));
  assert.equal(found.dump_kind, "kernel_summary");
  assert.equal(found.pages, 10);
  assert.equal(found.first_page_offset, 0x202A);
  assert.equal(found.expected_size_bytes, 0x202A + 10 * 4096);
  assert.deepEqual(found.warnings, []);
});

Deno.test("debugger-written dumps, ranges in any order", async () => {
  const kinds = [[8, "rdmp_kernel"], [9, "rdmp_kernel_user"], [0xA, "rdmp_complete"]] as const;
  for (const [type, kind] of kinds) {
    const found = await inspect(rangeDump(type, [[0x10n, 2n], [5n, 1n], [0n, 1n]]));
    assert.equal(found.dump_kind, kind);
    assert.equal(found.producer, "debugger");
    assert.equal(found.pages, 4);
    assert.equal(found.run_count, 3);
    assert.equal(found.expected_size_bytes, 0x2060 + 4 * 4096);
    assert.deepEqual(found.warnings, []);
  }
});

Deno.test("impossible ranges are warnings", async () => {
  assert.deepEqual(reasons(await inspect(rangeDump(8, [[1n, 1n]], { count: 0 }))), ["run_count"]);
  const many = await inspect(rangeDump(8, [[1n, 1n]], { count: 0xFFFFFFFF }));
  assert.deepEqual(reasons(many), ["run_count"]);
  assert.equal(many.pages, 1);
  assert.deepEqual(reasons(await inspect(rangeDump(9, [[5n, 2n], [6n, 2n]]))), ["run_overlap"]);
  assert.deepEqual(reasons(await inspect(rangeDump(9, [[5n, 2n]], { total: 1n << 50n }))), [
    "page_count_mismatch",
  ]);
  const overflow = rangeDump(9, [[5n, 0x7FFFFFFFFFFFFFFFn]], { held: 1 });
  assert.deepEqual(reasons(await inspect(overflow)), ["run_overflow"]);
});

Deno.test("a triage dump", async () => {
  const found = await inspect(triageDump64().bytes);
  assert.equal(found.dump_kind, "triage");
  assert.equal(found.drivers, 2);
  assert.equal(found.unloaded_drivers, 1);
  assert.equal(found.data_blocks, 3);
  assert.equal(found.secondary_blobs, 2);
  assert.equal(found.secondary_data_bytes, 24);
  assert.equal(found.expected_size_bytes, TRIAGE_PARTS.size);
  assert.deepEqual(found.parts?.slice(0, 3), ["context", "exception", "prcb"]);
  assert.equal(found.pages, undefined);
  assert.deepEqual(found.warnings, []);
});

Deno.test("damage of a triage dump is told", async () => {
  const { size, unloaded } = TRIAGE_PARTS;
  assert.deepEqual(reasons(await inspect(triageDump64().text(size - 4, "xxxx").bytes)), ["triage_marker"]);
  assert.deepEqual(reasons(await inspect(triageDump64().bytes.slice(0, size - 1))), ["truncated"]);
  assert.deepEqual(reasons(await inspect(triageDump64().bytes.slice(0, size))), []);
  assert.deepEqual(reasons(await inspect(triageDump64().u32(0x2034, 0x7FFFFFFF).bytes)), ["triage_part"]);
  assert.deepEqual(reasons(await inspect(triageDump64().u64(unloaded, 1n << 60n).bytes)), ["triage_part"]);
  assert.deepEqual(reasons(await inspect(triageDump64().u32(size + 0x10 + 0x14, 0xFFFF).bytes)), [
    "secondary_data",
  ]);
});

Deno.test("unknown types and code 0 are inspected", async () => {
  const found = await inspect(kernelHeader64(0x41).u32(0x38, 0).bytes);
  assert.equal(found.dump_kind, "unknown(0x41)");
  assert.equal(found.dump_type, 0x41);
  assert.equal(found.bugcheck_code, "0x00000000");
  assert.match(found.description ?? "", /^No bug check/);
  assert.equal((await inspect(kernelHeader64(3).bytes)).dump_kind, "header_only");
});

Deno.test("attributes name their bits, also the unknown ones, and encryption is a warning", async () => {
  const found = await inspect(kernelHeader64(3).u32(0x1050, 0x918).bytes);
  assert.deepEqual(found.attributes, ["kernel_generated_triage_dump", "live_dump", "encrypted", "bit11"]);
  assert.equal(found.live, true);
  assert.equal(found.encrypted, true);
  assert.deepEqual(reasons(found), ["encrypted"]);
  const decrypted = await inspect(kernelHeader64(3).u32(0x1050, 0x300).bytes);
  assert.equal(decrypted.encrypted, false);
  assert.equal(decrypted.live, false);
});

Deno.test("the folder of live dumps tells what the attributes do not", async () => {
  const { bytes } = kernelHeader64(3);
  assert.equal((await inspect(bytes, "C:\\Windows\\LiveKernelReports\\NDIS\\a.dmp")).live, true);
  assert.equal((await inspect(bytes, "C:\\Windows\\Minidump\\a.dmp")).live, null);
});

Deno.test("writers are recognised", async () => {
  const by = async (header: { bytes: Uint8Array }): Promise<unknown> =>
    (await inspect(header.bytes)).producer;
  assert.equal(await by(kernelHeader64(3)), "windows");
  assert.equal(await by(kernelHeader64(3).text(0xFB0, "Hello from elf2dmp!\0")), "qemu elf2dmp");
  assert.equal(await by(kernelHeader64(3).text(0xFB0, "Dump file generated by MemProcFS\0")), "MemProcFS");
  assert.equal(await by(kernelHeader64(3).u32(0x38, 0x5454414D)), "DumpIt");
});

Deno.test("the writer's last line is shown when its bit is set, filler never", async () => {
  const header = kernelHeader64(3).u32(0x1050, 0x1000);
  assert.equal((await inspect(header.bytes)).writer_last_line, null);
  const found = await inspect(
    header.u32(0x1058, 0xC0000001).text(0x1100, "Writing pages failed at 40%\0").bytes,
  );
  assert.equal(found.writer_last_line, "Writing pages failed at 40%");
  assert.equal((await inspect(kernelHeader64(3).bytes)).writer_last_line, undefined);
});

Deno.test("what debuggers refuse is a warning", async () => {
  assert.deepEqual(reasons(await inspect(kernelHeader64(3).u64(0x10, 2n).bytes)), ["bad_dtb"]);
  assert.deepEqual(reasons(await inspect(kernelHeader64(3).u32(0x30, 0).bytes)), ["bad_machine"]);
  const found = await inspect(kernelHeader64(3).u64(0xFA8, 0xFFFFFFFFFFFFFFFFn).bytes);
  assert.deepEqual(reasons(found), ["bad_time"]);
  assert.equal(found.time, null);
});

Deno.test("a file with holes is told where the platform says so", async () => {
  const bytes = fullDump64([[0n, 8n]]);
  const mostlyHoles = await inspect(bytes, "a", 8192);
  assert.deepEqual(reasons(mostlyHoles), ["sparse_zero_pages"]);
  assert.equal(mostlyHoles.allocated_size_bytes, 8192);
  const fewHoles = await inspect(bytes, "a", bytes.length - 4096);
  assert.deepEqual(reasons(fewHoles), []);
  assert.equal(fewHoles.allocated_size_bytes, bytes.length - 4096);
  assert.deepEqual(reasons(await inspect(triageDump64().bytes, "a", 512)), []);
  assert.deepEqual(reasons(await inspect(bytes, "a", bytes.length)), []);
});

Deno.test("a cut header tells what it covers", async () => {
  const { bytes } = kernelHeader64(1);
  const found = await inspect(bytes.subarray(0, 100));
  assert.equal(found.bugcheck_code, "0x000000d1");
  assert.equal(found.arg4, "0xfffff800200010ec");
  assert.equal(found.kd_debugger_data_block, null);
  assert.equal(found.time, null);
  assert.equal(found.dump_kind, "unknown");
  assert.equal(found.expected_size_bytes, 8192);
  assert.deepEqual(reasons(found), ["too_short"]);
  assert.deepEqual(reasons(await inspect(kernelHeader64(3).bytes.subarray(0, 8191))), ["truncated"]);
});

Deno.test("the page count and the writer's last line of a 32-bit header are found too", async () => {
  const bytes = fullDump32([[0, 2]]);
  new DataView(bytes.buffer).setUint32(0x68, 9, true);
  assert.deepEqual(reasons(await inspect(bytes)), ["page_count_mismatch"]);
  const diagnostics = kernelHeader32(3).u32(0x8A0, 0x1000).text(0x8A8, "disk full!\0");
  assert.equal((await inspect(diagnostics.bytes)).writer_last_line, "disk full!");
});
