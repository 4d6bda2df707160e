/** Every shared sample against the values that were found for it by others. */

import assert from "node:assert/strict";
import type { DumpInspection } from "../../../src/contract/dump.ts";
import { HvError } from "../../../src/base/errors.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../../src/base/json.ts";
import { ByteReader, MemorySource } from "../../../src/dump/bytes.ts";
import { inspectDump } from "../../../src/dump/inspect.ts";
import { filetimeToIso } from "../../../src/dump/time.ts";
import { readTriageHeader } from "../../../src/dump/windows/triage.ts";
import { hasSample, readSample, samplePath } from "../../support/shared_samples.ts";

async function inspect(name: string): Promise<DumpInspection> {
  return await inspectDump(new MemorySource(readSample(name)), { path: name });
}

async function outcome(name: string): Promise<string[]> {
  try {
    return (await inspect(name)).warnings.map(({ reason }) => reason);
  } catch (thrown) {
    assert(thrown instanceof HvError);
    assert.equal(thrown.code, "hv.bad_dump");
    return [`refused: ${thrown.context["reason"]}`];
  }
}

function readJson(name: string): JsonObject {
  return asObject(parseJson(Deno.readTextFileSync(samplePath(name))));
}

function asObject(value: JsonValue | undefined): JsonObject {
  assert(typeof value === "object" && value !== null && !Array.isArray(value));
  return value;
}

function asList(value: JsonValue | undefined): JsonValue[] {
  assert(Array.isArray(value));
  return value;
}

/** A value of the expectations as a number, whether it is written in decimal or hexadecimal. */
function numberOf(value: JsonValue | string | number | null | undefined): bigint | null {
  if (value === null || value === undefined) return null;
  assert(typeof value === "string" || typeof value === "number");
  return BigInt(value);
}

const EXPECTED = "dumps/expected-kernel.json";

Deno.test({
  name: "every kernel sample equals its expected values",
  ignore: !hasSample(EXPECTED),
  async fn() {
    const files = Object.entries(readJson(EXPECTED)).filter(([name]) => hasSample(`dumps/${name}`));
    assert(files.length >= 19, `${files.length} samples`);
    for (const [name, value] of files) await compareKernel(name, asObject(value));
  },
});

async function compareKernel(name: string, expected: JsonObject): Promise<void> {
  const found = await inspect(`dumps/${name}`);
  const wide: [keyof DumpInspection, string][] = [
    ["bugcheck_code", "bugcheck"],
    ["directory_table_base", "dtb"],
    ["kd_debugger_data_block", "kd_debugger_data_block"],
    ["ps_loaded_module_list", "ps_loaded_module_list"],
    ["exception_code", "exception_code"],
    ["exception_address", "exception_address"],
    ["build", "build"],
    ["processors", "processors"],
    ["dump_type", "dump_type"],
    ["required_dump_space", "required_dump_space"],
    ["actual_size_bytes", "file_size"],
  ];
  if (expected["bits"] === 64) {
    wide.push(["pfn_database", "pfn_database"], ["ps_active_process_head", "ps_active_process_head"]);
    wide.push(["boot_id", "boot_id"], ["writer_status", "writer_status"]);
    wide.push(["secondary_data_state", "secondary_data_state"]);
    assert.equal(found.comment, expected["comment"], name);
    assert.equal(found.time, expected["system_time_utc"], name);
    assert.equal(found.attributes === null, expected["attributes"] === null, name);
  } else {
    assert.equal(found.pae, expected["pae"] === 1, name);
    assert.equal(found.time, filetimeToIso(numberOf(expected["system_time"]) ?? 0n), name);
  }
  for (const [field, key] of wide) {
    const value = found[field];
    assert(value === null || typeof value === "string" || typeof value === "number", `${name} ${field}`);
    assert.equal(numberOf(value), numberOf(expected[key]), `${name} ${field}`);
  }
  const { arg1, arg2, arg3, arg4 } = found;
  const args = [arg1, arg2, arg3, arg4].map(numberOf);
  assert.deepEqual(args, asList(expected["args"]).map(numberOf), name);
  const ticks = Number(numberOf(expected["system_uptime_100ns"]));
  assert.equal(found.uptime_s, ticks / 1e7, name);
  assert.equal(found.build_kind, "free");
  assert.equal(found.product, "workstation");
  const context = asObject(expected["context"]);
  const counter = context["rip"] ?? context["pc"] ?? context["eip"];
  assert.equal(numberOf(found.program_counter), numberOf(counter), name);
  const stack = context["rsp"] ?? context["sp"] ?? context["esp"];
  assert.equal(numberOf(found.stack_pointer), numberOf(stack), name);
  compareBody(name, found, expected);
  const cut = name.startsWith("kernel/gpl-2.0/dumpit");
  assert.deepEqual(found.warnings.map(({ reason }) => reason), cut ? ["truncated"] : [], name);
}

function compareBody(name: string, found: DumpInspection, expected: JsonObject): void {
  const form = expected["bitmap"] ?? expected["summary"];
  if (form !== undefined) {
    const bitmap = asObject(form);
    assert.equal(numberOf(found.first_page_offset), numberOf(bitmap["first_page"]), name);
    assert.equal(numberOf(found.pages), numberOf(bitmap["present_pages"]), name);
    assert.equal(numberOf(found.bitmap_bits), numberOf(bitmap["bits"]), name);
    return;
  }
  if (expected["triage"] !== undefined) {
    const triage = asObject(expected["triage"]);
    assert.equal(numberOf(found.expected_size_bytes), numberOf(triage["SizeOfDump"]), name);
    assert.equal(numberOf(found.drivers), numberOf(triage["DriverCount"]), name);
    assert.equal(numberOf(found.data_blocks), numberOf(triage["DataBlocksCount"]), name);
    const reader = new ByteReader(new MemorySource(readSample(`dumps/${name}`)));
    const header = new Map(Object.entries(readTriageHeader(reader, 0x2000, 64)));
    for (const [key, value] of Object.entries(triage)) {
      const field = key.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
      assert.equal(numberOf(header.get(field)?.toString()), numberOf(value), `${name} ${key}`);
    }
    if (Array.isArray(expected["unloaded_drivers"])) {
      assert.equal(found.unloaded_drivers, expected["unloaded_drivers"].length, name);
    }
    if (Array.isArray(expected["secondary_blobs"])) {
      assert.equal(found.secondary_blobs, expected["secondary_blobs"].length, name);
    }
    return;
  }
  const ranges = expected["rdmp"] === undefined ? expected : asObject(expected["rdmp"]);
  const runs = asList(ranges["runs"] ?? ranges["physmem_runs"]).map((run) => asList(run).map(numberOf));
  if (found.dump_kind !== "kernel_summary") {
    assert.deepEqual(found.runs?.map((run) => [numberOf(run.first_page), numberOf(run.pages)]), runs, name);
  }
  assert.equal(numberOf(found.pages), runs.reduce((sum, [, count]) => sum + (count ?? 0n), 0n), name);
}

/** What is right for each damaged file. */
const HOSTILE: Readonly<Record<string, string[]>> = {
  "zero.dmp": ["refused: empty"],
  "h100.dmp": ["too_short"],
  "h8191.dmp": ["truncated"],
  "runs_max.dmp": ["run_count"],
  "run_overflow.dmp": ["run_overflow"],
  "run_overlap.dmp": ["run_overlap"],
  "full_pagefill.dmp": ["body_unusable"],
  "full_trunc.dmp": ["truncated"],
  "bmp_bits_huge.dmp": ["bitmap_size"],
  "bmp_bits13.dmp": [],
  "type41.dmp": [],
  "validdump0.dmp": ["refused: being_written"],
  "bigend.dmp": ["refused: byte_swapped"],
  "rdmp_count0.dmp": ["run_count"],
  "rdmp_countmax.dmp": ["run_count"],
  "rdmp_unsorted_frame0.dmp": [],
  "rdmp_overlap.dmp": ["run_overlap"],
  "rdmp_total_wrong.dmp": ["page_count_mismatch"],
  "rdmp_range_overflow.dmp": ["run_overflow"],
};

Deno.test({
  name: "every damaged file gets its answer",
  ignore: !hasSample("dumps/hostile"),
  async fn() {
    const names = Array.from(Deno.readDirSync(samplePath("dumps/hostile")), ({ name }) => name).sort();
    assert.deepEqual(names, Object.keys(HOSTILE).sort());
    for (const name of names) assert.deepEqual(await outcome(`dumps/hostile/${name}`), HOSTILE[name], name);
    const cut = await inspect("dumps/hostile/full_trunc.dmp");
    assert.equal(cut.expected_size_bytes, 16_785_408);
    assert.equal(cut.actual_size_bytes, 24_576);
    assert.equal(cut.pages_missing, 4092);
    assert.equal((await inspect("dumps/hostile/type41.dmp")).dump_kind, "unknown(0x41)");
    assert.equal((await inspect("dumps/hostile/bmp_bits13.dmp")).pages, 6);
    assert.equal((await inspect("dumps/hostile/h100.dmp")).bugcheck_code, "0x0000001e");
    assert.equal((await inspect("dumps/hostile/full_pagefill.dmp")).runs, null);
  },
});

/** File, version, code, address, parameters, thread, modules: read from the files by other tools. */
type UserRow = [
  file: string,
  os: string,
  machine: string,
  code: number | null,
  address: bigint,
  parameters: bigint[],
  modules: number | null,
];

const BSD = "dumps/user/bsd-3-clause";
const USER: readonly UserRow[] = [
  [`${BSD}/minidump2.dmp`, "5.1.2600", "x86", 0xC0000005, 0x40429En, [1n, 0x45n], 13],
  [`${BSD}/tiny-exe-fastfail.dmp`, "10.0.19042", "x64", 0xC0000409, 0x7FF75355AF42n, [7n], 21],
  [`${BSD}/tiny-exe-with-cet-xsave.dmp`, "10.0.22000", "x64", null, 0n, [], null],
  [`${BSD}/thread_name_list.dmp`, "10.0.17763", "x86", 0xC0000005, 0x4015FDn, [0n, 0xF1004n], null],
  [`${BSD}/ascii_read_av.dmp`, "6.1.7600", "x86", 0xC0000005, 0xD6A6CDn, [0n, 0x41414141n], null],
  [`${BSD}/null_write_av.dmp`, "6.1.7600", "x86", 0xC0000005, 0x103A6CDn, [1n, 0n], null],
  [`${BSD}/write_av_non_canonical.dmp`, "10.0.19042", "x64", 0xC0000005, 0x7FF738721331n, [
    0n,
    0xFFFFFFFFFFFFFFFFn,
  ], null],
  ["dumps/user/mit/simple-crashpad.dmp", "10.15.7", "x64", 0, 0x7FFF6F41333An, [0xAn, 0x6000000n, 0n], null],
  ["dumps/user/no-licence-stated/calc.dmp", "6.1.7601", "x64", 0x80000003, 0x7776AE10n, [0n], 28],
  ["dumps/made/user/crash-small.dmp", "10.0.18362", "x64", 0xC0000005, 0x14000179Cn, [0n, 0x10n], 4],
  ["dumps/made/user/crash-arm64.dmp", "10.0.22000", "arm64", 0xC0000005, 0x1400011A0n, [0n, 0x10n], 1],
  ["dumps/made/user/snapshot.dmp", "10.0.18362", "x64", null, 0n, [], 4],
];

Deno.test({
  name: "every user-mode sample equals its expected values",
  ignore: !hasSample("dumps/user"),
  async fn() {
    for (const [file, os, machine, code, address, parameters, modules] of USER) {
      const found = await inspect(file);
      assert.equal(found.os_version, os, file);
      assert.equal(found.machine, machine, file);
      assert.equal(numberOf(found.exception_code), code === null ? null : BigInt(code), file);
      if (code !== null) assert.equal(numberOf(found.exception_address), address, file);
      assert.deepEqual((found.exception_parameters ?? []).map(numberOf), parameters, file);
      if (modules !== null) assert.equal(found.modules, modules, file);
      assert.deepEqual(found.warnings, [], file);
      assert.equal(found.expected_size_bytes, found.actual_size_bytes, file);
    }
    assert.equal((await inspect(`${BSD}/minidump2.dmp`)).thread_id, 3060);
    assert.equal((await inspect(`${BSD}/minidump2.dmp`)).service_pack, "Service Pack 2");
    assert.equal((await inspect(`${BSD}/tiny-exe-fastfail.dmp`)).thread_id, 24_440);
    assert.equal((await inspect(`${BSD}/stack_exhaustion.dmp`)).exception_name, "STATUS_STACK_OVERFLOW");
    assert.equal((await inspect(`${BSD}/linux_null_dereference.dmp`)).exception_name, "SIGSEGV");
    assert.equal((await inspect("dumps/made/user/crash-full-trimmed.dmp")).dump_kind, "minidump_full_memory");
  },
});

Deno.test({
  name: "damaged user-mode samples are refused or clamped",
  ignore: !hasSample("dumps/user"),
  async fn() {
    const unlicensed = "dumps/user/no-licence-stated";
    assert.deepEqual(await outcome("dumps/user/mit/invalid-range.dmp"), ["refused: stream_directory"]);
    assert.deepEqual(await outcome("dumps/user/mit/invalid-record-count.dmp"), ["refused: stream_directory"]);
    assert.deepEqual(await outcome(`${unlicensed}/mdmp-dos.mdmp`), ["refused: stream_count"]);
    assert.deepEqual(await outcome(`${unlicensed}/npe_r_mdmp.c-364_1.mdmp`), ["refused: stream_count"]);
    assert.deepEqual(await outcome(`${unlicensed}/npe_w_bin_mdmp.c-111_1.mdmp`), ["refused: stream_count"]);
    assert.deepEqual(await outcome(`${unlicensed}/trunc_memory64.dmp`), ["stream_damaged", "stream_missing"]);
  },
});

Deno.test({
  name: "every Linux sample is recognised, packed and unpacked",
  ignore: !hasSample("dumps/linux/manifest.json"),
  async fn() {
    const cores = asList(readJson("dumps/linux/manifest.json")["cores"]).map(asObject);
    assert(cores.length > 0);
    for (const core of cores) {
      const name = `dumps/linux/${core["file"]}`;
      assert.deepEqual(await outcome(name), ["refused: not_a_dump"], name);
      const unpacked = new Response(readSample(name)).body?.pipeThrough(new DecompressionStream("gzip"));
      const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
      const found = await inspectDump(new MemorySource(bytes), { path: name });
      assert.deepEqual(found.warnings, [], name);
      assert.equal(found.core_of, "machine", name);
      assert.equal(found.machine, "x64", name);
      const expected = asObject(core["expect"]);
      const elf = expected["container"] === "elf";
      assert.equal(found.dump_kind, elf ? "elf_core" : "kdump_flattened", name);
      assert.equal(found.processors, asList(expected["cpus"]).length, name);
      if (elf && expected["vmcoreinfo"] === "note") assert.equal(found.os_version, expected["release"], name);
    }
  },
});
