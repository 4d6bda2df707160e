import assert from "node:assert/strict";
import type { DumpInspection } from "../../../../src/contract/dump.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { inspectDump } from "../../../../src/dump/inspect.ts";
import { elfCore, flattenedKdump, kdumpHeader } from "../../../support/dump_writer.ts";
import { elfCoreOf, flattenedOf, kdumpOf } from "../../../support/linux_core_writer.ts";
import { LinuxMachine, PLACES } from "../../../support/linux_machine.ts";

async function inspect(bytes: Uint8Array): Promise<DumpInspection> {
  return await inspectDump(new MemorySource(bytes), { path: "core" });
}

Deno.test("the core of a machine", async () => {
  const core = elfCore([
    ["CORE", 1, "registers"],
    ["CORE", 1, "registers"],
    ["QEMU", 0, "state"],
    ["VMCOREINFO", 0, "OSRELEASE=6.1.0-57-cloud-amd64\nCRASHTIME=1700000000\n"],
  ]);
  assert.deepEqual(await inspect(core.bytes), {
    path: "core",
    os_version: "6.1.0-57-cloud-amd64",
    dump_kind: "elf_core",
    machine: "x64",
    processors: 2,
    time: "2023-11-14T22:13:20Z",
    producer: "qemu",
    core_of: "machine",
    build_id: null,
    memory_bytes: 64,
    panic: null,
    report: null,
    expected_size_bytes: core.bytes.length,
    actual_size_bytes: core.bytes.length,
    warnings: [],
  });
});

Deno.test("the core of a process", async () => {
  const found = await inspect(
    elfCore([["CORE", 1, "registers"], ["CORE", 3, "process"], ["CORE", 1, "registers"]]).bytes,
  );
  assert.equal(found.core_of, "process");
  assert.equal(found.threads, 2);
  assert.equal(found.processors, null);
  assert.equal(found.os_version, null);
});

Deno.test("a core without notes tells nothing that it does not know", async () => {
  const found = await inspect(elfCore([]).bytes);
  assert.equal(found.core_of, null);
  assert.equal(found.producer, null);
});

Deno.test("a cut core is told", async () => {
  const { bytes } = elfCore([], 4096);
  const found = await inspect(bytes.subarray(0, bytes.length - 1));
  assert.deepEqual(found.warnings.map(({ reason }) => reason), ["truncated"]);
  assert.equal(found.expected_size_bytes, bytes.length);
  assert.equal((await inspect(bytes.subarray(0, 70))).machine, null);
});

Deno.test("kdumps, plain and flattened", async () => {
  for (
    const [kind, bytes] of [["kdump", kdumpHeader().bytes], ["kdump_flattened", flattenedKdump()]] as const
  ) {
    const found = await inspect(bytes);
    assert.equal(found.dump_kind, kind);
    assert.equal(found.os_version, "6.1.0-57-cloud-amd64");
    assert.equal(found.machine, "x64");
    assert.equal(found.processors, 2);
    assert.equal(found.node, "web");
    assert.equal(found.format_version, "6");
    assert.deepEqual(found.warnings, []);
  }
});

Deno.test("a kdump with pages of 64 KiB whose machine QEMU calls Unknown tells its kernel", async () => {
  const bytes = kdumpOf(new LinuxMachine(), (page) => [0, page], 65_536);
  bytes.set(new TextEncoder().encode("Unknown"), 272);
  const found = await inspect(bytes);
  assert.equal(found.machine, null);
  assert.equal(found.build_id, "00112233445566778899aabbccddeeff00112233");
  assert.deepEqual(found.warnings, []);
});

Deno.test("an envelope without the header in its first record is told", async () => {
  const found = await inspect(flattenedKdump().fill(1, 4096, 4104));
  assert.equal(found.os_version, null);
  assert.deepEqual(found.warnings.map(({ reason }) => reason), ["header_damaged"]);
});

Deno.test("the core of a machine whose notes lead to its log tells of its crash", async () => {
  const machine = new LinuxMachine({
    log: [
      "Linux version 6.1.0-test",
      "BUG: kernel NULL pointer dereference, address: 0000000000000018",
      "Kernel panic - not syncing: Fatal exception",
    ],
  });
  const bytes = elfCoreOf(machine);
  const found = await inspect(bytes);
  assert.equal(found.panic, "Fatal exception");
  assert.equal(found.report, "BUG: kernel NULL pointer dereference, address: 0000000000000018");
  assert.equal(found.build_id, "00112233445566778899aabbccddeeff00112233");
  assert.equal(found.memory_bytes, machine.pages.length * 4096);
  const damaged = await inspect(elfCoreOf(new LinuxMachine({ damage: (each) => each.u64(PLACES.log, 1n) })));
  assert.deepEqual([damaged.panic, damaged.report], [null, null]);
});

Deno.test("a kdump whose header has no names is told by its VMCOREINFO", async () => {
  const kdump = kdumpOf(new LinuxMachine(), (page) => [0, page]);
  for (const bytes of [kdump, flattenedOf(kdump)]) {
    const found = await inspect(bytes);
    assert.equal(found.os_version, "6.1.0-test");
    assert.equal(found.build_id, "00112233445566778899aabbccddeeff00112233");
    assert.deepEqual(found.warnings, []);
  }
});
