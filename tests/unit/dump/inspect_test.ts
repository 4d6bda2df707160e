import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { DumpInspection } from "../../../src/contract/dump.ts";
import { MemorySource } from "../../../src/dump/bytes.ts";
import { inspectDump } from "../../../src/dump/inspect.ts";
import { CRASH_REPORT_BYTES } from "../../../src/dump/linux/crash_report.ts";
import { renderInspection } from "../../../src/dump/render.ts";
import { CountingSource } from "../../support/counting_source.ts";
import {
  bitmapDump,
  DumpBytes,
  elfCore,
  exceptionStream,
  flattenedKdump,
  fullDump32,
  fullDump64,
  kdumpHeader,
  kernelHeader64,
  minidump,
  miscInfoStream,
  rangeDump,
  summaryDump64,
  systemInfoStream,
  triageDump64,
} from "../../support/dump_writer.ts";

/** One small file of every form. */
const FILES: Readonly<Record<string, Uint8Array>> = {
  full64: fullDump64([[1n, 1n], [3n, 1n]]),
  full32: fullDump32([[1, 2]]),
  bitmap: bitmapDump(6, "SDMP", [0x81]),
  summary: summaryDump64([0x81], 2),
  ranges: rangeDump(9, [[1n, 1n], [4n, 1n]]),
  triage: triageDump64().bytes,
  diagnostics: kernelHeader64(3).u32(0x1050, 0x1000).text(0x1100, "last words here").bytes,
  minidump: minidump([
    systemInfoStream(),
    exceptionStream(0xC0000005, 1n, 0n, 2n),
    miscInfoStream(3),
    { type: 9, data: new DumpBytes(32).u64(0, 1n, 0x100n, 0n, 16n).bytes },
  ]).bytes,
  legacy: new DumpBytes(100).text(0, "USERDU64").bytes,
  firmware: new DumpBytes(56 + 64).text(0, "Raw_Dmp!").u16(8, 1, 2).u32(12, 5).u64(0x24, 120n).u32(0x34, 1)
    .u32(56 + 8, 5).u32(56 + 28 + 12, 1).bytes,
  encrypted: new DumpBytes(64).text(0, "Enc_Dmp!").bytes,
  elf: elfCore([["CORE", 1, "registers"], ["VMCOREINFO", 0, "OSRELEASE=6.1\n"]]).bytes,
  kdump: kdumpHeader().bytes,
  flattened: flattenedKdump(),
};

/** Everything that an inspection may cost, whatever the file says. */
const MOST_BYTES = 512 * 1024 + CRASH_REPORT_BYTES;

/** Inspects; every failure but a coded refusal of the dump, and every unbounded read, fails the test. */
async function inspectBounded(bytes: Uint8Array, size = bytes.length): Promise<DumpInspection | null> {
  const source = new CountingSource(bytes, size);
  try {
    const found = await inspectDump(source, { path: "x" });
    assert.equal(renderInspection(found).split("\n").some((line) => /\p{Cc}/u.test(line)), false);
    return found;
  } catch (thrown) {
    assert(thrown instanceof HvError, String(thrown));
    assert.equal(thrown.code, "hv.bad_dump");
    return null;
  } finally {
    assert(source.bytesRead <= MOST_BYTES, `${source.bytesRead} bytes read`);
  }
}

Deno.test("every form follows the schema and the contract's order of fields", async () => {
  const order = Object.keys(DumpInspection._zod.innerType._zod.def.shape);
  for (const [form, bytes] of Object.entries(FILES)) {
    const found = await inspectDump(new MemorySource(bytes), { path: form });
    assert.deepEqual(DumpInspection.parse(found), found, form);
    const fields = Object.keys(found);
    assert.deepEqual(fields, order.filter((field) => fields.includes(field)), form);
    assert.equal(found.warnings.filter(({ reason }) => reason === "truncated").length, 0, form);
  }
});

Deno.test("a kernel dump begins with the fields that scripts rely on", async () => {
  const found = await inspectDump(new MemorySource(fullDump64([[1n, 1n]])), { path: "x" });
  assert.deepEqual(Object.keys(found).slice(0, 13), [
    "path",
    "os_version",
    "dump_kind",
    "bugcheck_code",
    "bugcheck_name",
    "description",
    "reference",
    "arg1",
    "arg2",
    "arg3",
    "arg4",
    "directory_table_base",
    "kd_debugger_data_block",
  ]);
});

Deno.test("firmware dumps tell their machine and size", async () => {
  const raw = await inspectDump(new MemorySource(FILES["firmware"] ?? new Uint8Array()), { path: "x" });
  assert.equal(raw.dump_kind, "firmware_raw");
  assert.equal(raw.machine, "x64");
  assert.deepEqual(raw.attributes, ["valid", "hypervisor_data_protected"]);
  assert.equal(raw.format_version, "1.2");
  assert.equal(raw.expected_size_bytes, 120);
  const encrypted = await inspectDump(new MemorySource(FILES["encrypted"] ?? new Uint8Array()), {
    path: "x",
  });
  assert.equal(encrypted.encrypted, true);
});

Deno.test("a file cut at any offset near its fields is told or refused", async () => {
  for (const [form, bytes] of Object.entries(FILES)) {
    const whole = await inspectBounded(bytes);
    assert(whole !== null, form);
    const step = bytes.length > 4096 ? 64 : 1;
    const cuts = new Set<number>();
    for (let cut = 0; cut < Math.min(bytes.length, 160); cut++) cuts.add(cut);
    for (let cut = 0; cut < bytes.length; cut += step) cuts.add(cut);
    for (let cut = 0xF80; cut < Math.min(bytes.length, 0x1060); cut++) cuts.add(cut);
    for (let cut = 0x2000; cut < Math.min(bytes.length, 0x2090); cut++) cuts.add(cut);
    for (const cut of cuts) await inspectBounded(bytes.subarray(0, cut));
  }
});

Deno.test("a kernel dump is told from 0x40 bytes on, and no cut changes what it tells", async () => {
  const bytes = FILES["full64"] ?? new Uint8Array();
  const whole = new Map(Object.entries(await inspectDump(new MemorySource(bytes), { path: "x" })));
  const compared = ["os_version", "bugcheck_code", "arg4", "time", "uptime_s", "machine", "boot_id", "suite"];
  for (let cut = 0x40; cut < 0x2000; cut += 4) {
    const found = await inspectBounded(bytes.subarray(0, cut));
    assert(found !== null);
    assert(found.warnings.some(({ reason }) => reason === "too_short" || reason === "truncated"));
    for (const [field, value] of Object.entries(found)) {
      if (compared.includes(field) && value !== null) assert.deepEqual(value, whole.get(field), field);
    }
  }
});

Deno.test("changed bytes never break the inspection nor make it long", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(FILES)),
      fc.array(fc.tuple(fc.nat(0x2900), fc.constantFrom(0, 1, 0x7F, 0x80, 0xFF)), {
        minLength: 1,
        maxLength: 64,
      }),
      fc.constantFrom(0, 1, 2 ** 20, 2 ** 36),
      async (bytes, changes, more) => {
        const damaged = bytes.slice();
        for (const [offset, value] of changes) damaged[offset % damaged.length] = value;
        await inspectBounded(damaged, damaged.length + more);
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("random bytes behind a signature never break the inspection", async () => {
  const signatures = [
    "PAGEDU64",
    "PAGEDUMP",
    "MDMP\x93\xA7",
    "Raw_Dmp!",
    "\x7FELF\x02\x01",
    "KDUMP   ",
    "makedumpfile",
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...signatures),
      fc.uint8Array({ minLength: 16, maxLength: 10_000, size: "max" }),
      async (signature, bytes) => {
        const damaged = bytes.slice();
        for (let index = 0; index < signature.length; index++) damaged[index] = signature.charCodeAt(index);
        await inspectBounded(damaged);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("the cost does not depend on the size of the file", async () => {
  const forms: [string, Uint8Array][] = [
    ["full", kernelHeader64(1).u32(0x88, 1).u64(0x90, 0x1000000n, 0n, 0x1000000n).bytes],
    ["bitmap", bitmapDump(5, "FDMP", [0xFF], { bits: 0x1000000n, pages: 0x1000000n, firstPage: 0x300000n })],
    ["ranges", rangeDump(9, [[0n, 0x1000000n]], { held: 0 })],
  ];
  for (const [form, head] of forms) {
    const costs = await Promise.all([2 ** 22, 2 ** 36, 2 ** 40].map(async (size) => {
      const source = new CountingSource(head, size);
      await inspectDump(source, { path: form });
      return [source.reads, source.bytesRead];
    }));
    assert.deepEqual(costs[1], costs[0], form);
    assert.deepEqual(costs[2], costs[0], form);
    assert((costs[0]?.[1] ?? 0) <= 3 * 8192, form);
  }
});
