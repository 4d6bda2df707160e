/** Damaged and hostile cores: each ends with a coded error or with an answer that says what was lost. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../../src/base/errors.ts";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { openLinuxKernel } from "../../../../src/debugger/linux/open_kernel.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openElfCore } from "../../../../src/dump/linux/containers/elf_core.ts";
import { Btf } from "../../../../src/dump/linux/kernel/btf.ts";
import type { LinuxKernel } from "../../../../src/dump/linux/kernel/kernel.ts";
import { parseConsole } from "../../../../src/dump/linux/console/parse.ts";
import { BtfWriter } from "../../../support/btf_writer.ts";
import { CountingSource } from "../../../support/counting_source.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";
import { elfCoreOf, flattenedOf, kdumpOf } from "../../../support/linux_core_writer.ts";
import { DATA, LinuxMachine, MODULE, PLACES, TASK } from "../../../support/linux_machine.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { assertDumpRefused } from "../../../support/refused.ts";
import { StepClock } from "../../../support/step_clock.ts";

async function damaged(damage: (machine: LinuxMachine) => void): Promise<LinuxKernel> {
  return await openLinuxKernel(new MemorySource(elfCoreOf(new LinuxMachine({ damage }))));
}

async function triage(bytes: Uint8Array): Promise<DumpTriage> {
  const files = new MemoryFiles({ "/core": { bytes } });
  return await triageDumpFile(files, new StepClock(), { path: "/core", full: true });
}

function reasons({ warnings }: Pick<LinuxKernel, "warnings">): string[] {
  return warnings.map(({ reason }) => reason);
}

const SHELL = PLACES.tasks;
const SLEEPER = PLACES.tasks + 0x400n;

Deno.test("notes that many segments claim are read within one bound", () => {
  const [segments, size] = [500, 4 * 1024 * 1024];
  const core = new DumpBytes(0x40 + segments * 0x38);
  core.bytes.set([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]);
  core.u16(0x10, 4).u16(0x12, 62).u64(0x20, 0x40n).u16(0x36, 0x38).u16(0x38, segments);
  for (let index = 0; index < segments; index++) {
    const at = 0x40 + index * 0x38;
    core.u32(at, 4).u64(at + 0x08, 0n).u64(at + 0x20, BigInt(size));
  }
  const source = new CountingSource(core.bytes, size);
  openElfCore(source);
  assert.ok(source.bytesRead < 17 * 1024 * 1024, `${source.bytesRead} bytes were read`);
});

Deno.test("a list of tasks that goes in circles ends, and says so", async () => {
  const kernel = await damaged((machine) =>
    machine.u64(SLEEPER + BigInt(TASK.tasks), SHELL + BigInt(TASK.tasks))
  );
  assert.deepEqual(kernel.tasks().map(({ pid }) => pid), [42, 43]);
  assert.deepEqual(reasons(kernel), ["kernel_list"]);
});

Deno.test("threads that go in circles end, and it is said once", async () => {
  const node = SHELL + BigInt(TASK.node);
  const kernel = await damaged((machine) => machine.u64(node, node));
  assert.deepEqual(kernel.tasks().map(({ pid }) => pid), [42, 43]);
  assert.deepEqual(reasons(kernel), ["kernel_list"]);
});

Deno.test("a list of modules that goes in circles or to nothing ends", async () => {
  const node = PLACES.tasks + 0x1000n + BigInt(MODULE.list);
  for (const next of [node, 0x1234n, 0xDEAD_0000_0000_0000n]) {
    const kernel = await damaged((machine) => machine.u64(node, next));
    assert.deepEqual(kernel.modules().map(({ name }) => name), ["mymod"]);
    assert.deepEqual(reasons(kernel), ["kernel_list"]);
  }
});

Deno.test("page tables that point to themselves give bytes or an absence, never a loop", async () => {
  const root = PLACES.tables - 0xFFFF_FFFF_8000_0000n;
  const kernel = await damaged((machine) => machine.setEntry(PLACES.stack, 4, root | 3n));
  assert(kernel.processors().length === 1);
  const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
  assert.equal(walk.frames.length, 1);
  assert.equal(walk.end, "no_memory");
});

Deno.test("unwind rows that do not move the stack end the walk", async () => {
  const kernel = await damaged((machine) => {
    // The row of panic() leaves the stack pointer as it is, and the word below it leads to panic() again.
    machine.put(PLACES.orcRows + 6n, new DumpBytes(6).u16(0, 0, 0, 5).bytes)
      .u64(PLACES.stack + 0x2FF8n, PLACES.text + 0x1010n);
  });
  const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
  assert.equal(walk.end, "not_advancing");
  assert.equal(walk.frames.length, 1);
});

Deno.test("an endless stack ends at the most frames that are walked", async () => {
  const kernel = await damaged((machine) => {
    const words = new DumpBytes(0x4000);
    for (let at = 0; at < 0x4000; at += 8) words.u64(at, PLACES.text + 0x1010n);
    machine.put(PLACES.stack + 0x3000n, words.bytes);
  });
  const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
  assert.equal(walk.end, "limit");
  assert(walk.frames.length <= 257);
});

Deno.test("an unwind table that claims too many rows is damage", async () => {
  const kernel = await damaged((machine) =>
    machine.u32(PLACES.tasks + 0x1000n + BigInt(MODULE.orc), 0x7FFF_FFFF)
      .u64(PLACES.stack + 0x3000n, PLACES.module + 0x110n)
  );
  const walk = kernel.walk(kernel.processors()[0]?.saved.context ?? assert.fail());
  assert.equal(walk.end, "unwind_damaged");
});

Deno.test("symbols with damaged tokens, names or counts are lost, and the log is not", async () => {
  const damages: readonly ((machine: LinuxMachine) => void)[] = [
    (machine) => machine.put(PLACES.tokenIndex + 10n, Uint8Array.of(0, 0)),
    (machine) => machine.put(PLACES.tokenIndex + 510n, Uint8Array.of(0xFF, 0xFF)),
    (machine) => machine.put(PLACES.names, Uint8Array.of(0)),
    (machine) => machine.put(PLACES.names, Uint8Array.of(0xFF, 0x7F)),
    (machine) => machine.u32(PLACES.names - 8n, 0xFFFF_FFFF),
    (machine) => machine.u32(PLACES.names - 8n, 1_999_999),
    (machine) => machine.u64(PLACES.offsets - 8n, 0x1234n),
  ];
  for (const damage of damages) {
    const kernel = await damaged(damage);
    assert.equal(kernel.symbols(), null);
    assert(reasons(kernel).some((reason) => reason === "kallsyms" || reason === "missing_memory"));
    assert.equal(kernel.log()?.records.length, 2);
  }
});

Deno.test("types that contain themselves are damage where they are looked through", () => {
  const writer = new BtfWriter();
  writer.structure("outer", 8, [["", 0, 1], ["", 0, 1]]);
  writer.alias("loop", 2);
  writer.structure("through_loop", 8, [["", 0, 2]]);
  const types = new Btf(writer.bytes());
  assert.throws(() => types.place("outer.missing"), HvError);
  assert.throws(() => types.place("through_loop.missing"), HvError);
  assert.equal(types.place("absent.field"), null);
});

Deno.test("types whose sizes go beyond their section are refused", () => {
  const writer = new BtfWriter();
  writer.structure("outer", 8, [["field", 0, 1]]);
  const bytes = writer.bytes();
  for (
    const [offset, value] of [[12, 0xFFFF_FFF0], [20, 0xFFFF_FFF0], [24 + 4, 0x0400_FFFF], [
      24 + 4,
      0x1F00_0000,
    ]] as const
  ) {
    const copy = bytes.slice();
    new DataView(copy.buffer).setUint32(offset, value, true);
    assert.throws(() => new Btf(copy), HvError);
  }
});

Deno.test("a log with an impossible geometry is lost, and the stack is not", async () => {
  const ring = PLACES.log + 0x100n;
  const damages: readonly ((machine: LinuxMachine) => void)[] = [
    (machine) => machine.u32(ring, 40),
    (machine) => machine.u32(ring + 64n, 60),
    (machine) => machine.u64(PLACES.log, 0x1234n),
  ];
  for (const damage of damages) {
    const answer = await triage(elfCoreOf(new LinuxMachine({ damage })));
    assert.deepEqual(answer.log, []);
    assert.equal(answer.stack[0]?.symbol, "mymod_fault");
    assert.equal(answer.bucket, "panic|mymod:mymod_fault|caller|entry");
    assert(answer.warnings.length > 0);
  }
});

Deno.test("torn and overwritten messages are counted", async () => {
  const descriptors = PLACES.log + 0x1000n;
  const torn = await damaged((machine) => machine.u64(descriptors + 24n + 16n, 2n ** 63n));
  assert.deepEqual([torn.log()?.records.length, torn.log()?.lost], [1, 1]);
  const pushedOut = await damaged((machine) => machine.u64(descriptors + 24n + 8n, 1n, 1n));
  assert.deepEqual([pushedOut.log()?.records.length, pushedOut.log()?.lost], [1, 1]);
  const reserved = await damaged((machine) => machine.u64(descriptors + 24n, 1n));
  assert.deepEqual([reserved.log()?.records.length, reserved.log()?.lost], [1, 0]);
});

Deno.test("a segment that claims more than the file has is cut, and searched within the file", async () => {
  const bytes = elfCoreOf(new LinuxMachine(), false);
  const view = new DataView(bytes.buffer);
  for (let header = 64 + 56; header < 64 + 56 * view.getUint16(56, true); header += 56) {
    view.setBigUint64(header + 32, 2n ** 63n, true);
  }
  await assertDumpRefused("vmcoreinfo", () => triage(bytes));
});

Deno.test("kdump headers with impossible sizes are refused", async () => {
  const good = kdumpOf(new LinuxMachine(), (page) => [0, page]);
  const cases: readonly (readonly [offset: number, value: number, reason: string])[] = [
    [428, 32_768, "unsupported_kind"],
    [432, 0, "header_damaged"],
    [436, 0xFFFF_FFFF, "header_damaged"],
    [436, 0, "bitmap_size"],
    [4096 + 12, 1, "unsupported_kind"],
    [4096 + 100, 0x7FFF_FFFF, "bitmap_size"],
  ];
  for (const [offset, value, reason] of cases) {
    const copy = good.slice();
    new DataView(copy.buffer).setUint32(offset, value, true);
    await assertDumpRefused(reason, () => triage(copy));
  }
});

Deno.test("a flattened kdump with impossible records is refused", async () => {
  const good = flattenedOf(kdumpOf(new LinuxMachine(), (page) => [0, page]));
  for (const [offset, value] of [[16, 2n], [4096 + 8, -1n], [4096, -2n]] as const) {
    const copy = good.slice();
    new DataView(copy.buffer).setBigInt64(offset, value);
    await assertDumpRefused("header_damaged", () => openLinuxKernel(new MemorySource(copy)));
  }
});

/** An answer or a coded refusal; anything else is a fault of ours. */
async function outcome(bytes: Uint8Array): Promise<void> {
  try {
    const answer = await triage(bytes);
    assert(answer.summary.length > 0 && answer.stack.length <= 257);
  } catch (thrown) {
    assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", `threw ${thrown}`);
  }
}

const CORE = elfCoreOf(new LinuxMachine());
const PACKED = flattenedOf(kdumpOf(new LinuxMachine(), (page) => [0, page]));

Deno.test("any bytes changed in a core give an answer or a refusal", async () => {
  const change = fc.tuple(fc.nat(CORE.length - 8), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      async (changes, packed) => {
        const copy = (packed ? PACKED : CORE).slice();
        const view = new DataView(copy.buffer);
        for (const [offset, value] of changes) {
          view.setBigUint64(
            Math.min(offset, copy.length - 8),
            value,
            true,
          );
        }
        await outcome(copy);
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("any pointer of the kernel replaced by another gives an answer or a refusal", async () => {
  const places = [
    ...Object.values(DATA),
    SHELL + BigInt(TASK.tasks),
    SHELL + BigInt(TASK.signal),
    SHELL + BigInt(TASK.node),
    SLEEPER + BigInt(TASK.sp),
    PLACES.log,
    PLACES.log + 0x108n,
    PLACES.log + 0x118n,
    PLACES.log + 0x120n,
    PLACES.tasks + 0x1000n + BigInt(MODULE.list),
    PLACES.tasks + 0x1000n + BigInt(MODULE.kallsyms),
    PLACES.tasks + 0x1000n + BigInt(MODULE.mem),
    PLACES.stack + 0x3000n,
    PLACES.stack + 0x3020n + 128n,
    PLACES.stack + 0x3020n + 152n,
    PLACES.names - 8n,
    PLACES.offsets - 8n,
    PLACES.types + 8n,
    PLACES.types + 16n,
  ];
  const swap = fc.tuple(
    fc.constantFrom(...places),
    fc.constantFrom(...places, 0n, 1n, 2n ** 64n - 1n, 2n ** 63n),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(swap, { minLength: 1, maxLength: 4 }), async (swaps) => {
      await outcome(elfCoreOf(
        new LinuxMachine({ damage: (machine) => swaps.forEach(([at, value]) => machine.u64(at, value)) }),
      ));
    }),
    { numRuns: 60 },
  );
});

Deno.test("a core cut anywhere gives an answer or a refusal", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(CORE.length), async (length) => await outcome(CORE.slice(0, length))),
    { numRuns: 40 },
  );
});

Deno.test("any lines give an answer", () => {
  const line = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom(
      "BUG: kernel NULL pointer dereference, address: 0000000000000018",
      "Oops: 0002 [#1] PREEMPT SMP",
      "CPU: 0 PID: 110 Comm: sh Tainted: G           OE      6.1.0 #1",
      "RIP: 0010:victim+0xe/0x20 [mymod]",
      "Call Trace:",
      " <TASK>",
      " caller+0x10/0x20 [mymod]",
      " ? caller+0x10/0x20",
      "Kernel panic - not syncing: softlockup: hung tasks",
      "watchdog: BUG: soft lockup - CPU#1 stuck for 6s! [sh:117]",
      "Linux version 6.1.0",
      "---[ end Kernel panic",
      "Modules linked in: a(O) b",
    ),
  );
  const stamped = fc.tuple(
    fc.constantFrom("", "[    1.000000] ", "<4>[    1.000000][   C0] ", "\x1B[0m"),
    line,
  );
  fc.assert(fc.property(fc.array(stamped, { maxLength: 60 }), (lines) => {
    const found = parseConsole(lines.map(([prefix, text]) => prefix + text));
    assert(found.reports.length <= lines.length + 60);
    assert.equal(found.main === null, found.reports.every(({ report }) => report.rank === "note"));
  }));
});

Deno.test("tasks that cannot be read are one warning, however many there are", async () => {
  const kernel = await damaged((machine) => {
    // Each of the two processes lists a thread that begins before the only page that is there.
    for (const [task, node] of [[SHELL, SHELL + 0x3_0000n], [SLEEPER, SHELL + 0x5_0000n]] as const) {
      machine.u64(task + BigInt(TASK.size) + 0x10n, node).u64(node, 0x10_0000n);
    }
  });
  assert.deepEqual(kernel.tasks(), []);
  const told = kernel.warnings.filter(({ message }) => message.startsWith("2 tasks or processes are lost: "));
  assert.equal(told.length, 1);
});

Deno.test("a console line made to be slow is read in a moment", () => {
  const lines = [
    "BUG: kernel NULL pointer dereference, address: 0000000000000018",
    ...Array.from({ length: 200 }, () => `CPU: 0 PID: 1 Comm: x Tainted: ${" ".repeat(4000)}`),
    ...Array.from({ length: 200 }, () => "ALERT! ".repeat(580)),
    ...Array.from({ length: 200 }, () => `<${"STACK".repeat(800)}`),
  ];
  assert.equal(parseConsole(lines).reports.length, 1);
});
