import assert from "node:assert/strict";
import type { DumpInspection } from "../../../../src/contract/dump.ts";
import { HvError } from "../../../../src/base/errors.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { inspectDump } from "../../../../src/dump/inspect.ts";
import {
  DumpBytes,
  exceptionStream,
  minidump,
  miscInfoStream,
  systemInfoStream,
  type WrittenStream,
} from "../../../support/dump_writer.ts";

async function inspect(bytes: Uint8Array): Promise<DumpInspection> {
  return await inspectDump(new MemorySource(bytes), { path: "app.dmp" });
}

async function inspectStreams(...streams: WrittenStream[]): Promise<DumpInspection> {
  return await inspect(minidump(streams).bytes);
}

function reasons(inspection: DumpInspection): string[] {
  return inspection.warnings.map(({ reason }) => reason);
}

async function refusal(bytes: Uint8Array): Promise<unknown> {
  try {
    await inspect(bytes);
  } catch (thrown) {
    assert(thrown instanceof HvError);
    assert.equal(thrown.code, "hv.bad_dump");
    return thrown.context["reason"];
  }
  assert.fail("the minidump was accepted");
}

Deno.test("a minidump with an access violation", async () => {
  const comment = new DumpBytes(20).wide(0, "by hand");
  const found = await inspectStreams(
    systemInfoStream(),
    exceptionStream(0xC0000005, 0x140001234n, 1n, 0x45n),
    miscInfoStream(3),
    { type: 3, data: new DumpBytes(4 + 48 * 2).u32(0, 2).bytes },
    { type: 4, data: new DumpBytes(4 + 108).u32(0, 1).bytes },
    { type: 11, data: comment.bytes },
  );
  assert.deepEqual(found, {
    path: "app.dmp",
    os_version: "10.0.19045",
    dump_kind: "minidump",
    os_name: "Windows 10 22H2",
    build: 19045,
    service_pack: null,
    platform: "windows",
    machine: "x64",
    processors: 8,
    time: "2023-11-14T22:13:20Z",
    product: "workstation",
    suite: ["single_user_terminal"],
    comment: "by hand",
    producer: null,
    exception_code: "0xc0000005",
    exception_name: "STATUS_ACCESS_VIOLATION",
    exception_address: "0x0000000140001234",
    exception_parameters: ["0x0000000000000001", "0x0000000000000045"],
    fault: "write",
    fault_address: "0x0000000000000045",
    thread_id: 42,
    process_id: 4711,
    process_started: "2023-11-14T21:56:40Z",
    minidump_flags: "0x0",
    streams: 6,
    threads: 2,
    modules: 1,
    expected_size_bytes: found.actual_size_bytes,
    actual_size_bytes: found.actual_size_bytes,
    warnings: [],
  });
});

Deno.test("a snapshot has no exception, and what was not collected is null", async () => {
  const found = await inspectStreams(systemInfoStream(), miscInfoStream(0));
  assert.equal(found.exception_code, null);
  assert.equal(found.thread_id, null);
  assert.equal(found.process_id, null);
  assert.equal(found.process_started, null);
  assert.equal(found.fault, undefined);
});

Deno.test("the kind of access is told for access violations only", async () => {
  const fault = async (code: number, kind: bigint): Promise<unknown> =>
    (await inspectStreams(systemInfoStream(), exceptionStream(code, 0n, kind, 1n))).fault;
  assert.equal(await fault(0xC0000005, 0n), "read");
  assert.equal(await fault(0xC0000005, 8n), "execute");
  assert.equal(await fault(0xC0000005, 2n), "unknown(0x2)");
  assert.equal(await fault(0xC0000409, 1n), undefined);
});

Deno.test("values of 32-bit programs have 8 digits, signals their names", async () => {
  const x86 = systemInfoStream();
  x86.data.set([0, 0]);
  const found = await inspectStreams(x86, exceptionStream(0xE06D7363, 0xFFFFFFFF80001234n));
  assert.equal(found.exception_address, "0x80001234");
  assert.equal(found.exception_name, "CPP_EXCEPTION");
  const linux = systemInfoStream();
  linux.data.set([0x01, 0x82], 0x14);
  const signal = await inspectStreams(linux, exceptionStream(11, 0n));
  assert.equal(signal.platform, "linux");
  assert.equal(signal.exception_name, "SIGSEGV");
  assert.equal(signal.product, undefined);
});

Deno.test("the full memory list counts towards the size", async () => {
  const list = new DumpBytes(16 + 32).u64(0, 2n, 0x1000n).u64(16, 0n, 0x800n, 0n, 0x1_0000_0000n);
  const found = await inspect(minidump([systemInfoStream(), { type: 9, data: list.bytes }], 2n).bytes);
  assert.equal(found.dump_kind, "minidump_full_memory");
  assert.equal(found.expected_size_bytes, 0x1000 + 0x800 + 0x1_0000_0000);
  assert.deepEqual(reasons(found), ["truncated"]);
});

Deno.test("a memory list is understood with and without padding", async () => {
  for (const first of [4, 8]) {
    const list = new DumpBytes(first + 16).u32(0, 1).u32(first + 8, 0x100, 0x7000);
    const found = await inspectStreams(systemInfoStream(), { type: 5, data: list.bytes });
    assert.equal(found.expected_size_bytes, 0x7100);
  }
});

Deno.test("damaged lists and streams are warnings", async () => {
  const list = new DumpBytes(16).u64(0, 0xFFFFFFFFFFFFFFFFn, 0n);
  assert.deepEqual(reasons(await inspectStreams(systemInfoStream(), { type: 9, data: list.bytes })), [
    "stream_damaged",
  ]);
  assert.deepEqual(reasons(await inspectStreams()), ["stream_missing"]);
  assert.deepEqual(reasons(await inspectStreams(systemInfoStream(), systemInfoStream())), [
    "stream_repeated",
  ]);
  const outside = minidump([systemInfoStream()]).u32(0x20 + 8, 0xFFFFFF00);
  const found = await inspect(outside.bytes);
  assert.equal(found.machine, null);
  assert.equal(found.expected_size_bytes, 0xFFFFFF00 + 0x38);
  assert.deepEqual(reasons(found), ["truncated", "truncated"]);
});

Deno.test("an impossible directory is refused without reading it", async () => {
  assert.equal(await refusal(minidump([]).u32(8, 16_774_400).bytes), "stream_count");
  assert.equal(await refusal(minidump([systemInfoStream()]).u32(12, 2).bytes), "stream_directory");
  assert.equal(await refusal(minidump([systemInfoStream()]).u32(12, 0xFFFF).bytes), "truncated");
});

Deno.test("crash reporters are told by their streams", async () => {
  const stream = (type: number): WrittenStream => ({ type, data: new Uint8Array(4) });
  assert.equal((await inspectStreams(systemInfoStream(), stream(0x47670001))).producer, "breakpad");
  assert.equal((await inspectStreams(systemInfoStream(), stream(0x43500001))).producer, "crashpad");
});
