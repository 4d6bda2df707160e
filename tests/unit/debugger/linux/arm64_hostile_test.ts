/** Damaged and hostile ARM64 cores: each ends with a coded error, or with an answer that says what was lost. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../../src/base/errors.ts";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { listDumpTasks } from "../../../../src/debugger/linux/list_tasks.ts";
import { openLinuxKernel } from "../../../../src/debugger/linux/open_kernel.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { isAbsence } from "../../../../src/dump/memory/absence.ts";
import { readArmCore } from "../../../support/arm64_samples.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { assertDumpRefused } from "../../../support/refused.ts";
import { StepClock } from "../../../support/step_clock.ts";

const CORE = await readArmCore("interrupt-6.1");
const NOTES_END = 0x2000;

async function triage(bytes: Uint8Array): Promise<DumpTriage> {
  const files = new MemoryFiles({ "/core": { bytes } });
  return await triageDumpFile(files, new StepClock(), { path: "/core", full: true });
}

/** A copy in whose notes a text is replaced by one of the same length. */
function withNote(text: string, other: string): Uint8Array<ArrayBuffer> {
  assert.equal(text.length, other.length);
  const copy = CORE.slice();
  const notes = new TextDecoder("latin1").decode(copy.subarray(0, NOTES_END * 4));
  const at = notes.indexOf(text);
  assert.ok(at > 0, `the notes hold ${text}`);
  copy.set(new TextEncoder().encode(other), at);
  return copy;
}

/** A copy in which the word at a virtual address is another one. */
async function withWord(
  place: (kernel: Kernel) => bigint,
  value: (kernel: Kernel) => bigint,
): Promise<Uint8Array> {
  const kernel = await openLinuxKernel(new MemorySource(CORE));
  const found = kernel.memory.space.translate(place(kernel));
  assert.ok(!isAbsence(found) && found.fileOffset !== null);
  const copy = CORE.slice();
  new DataView(copy.buffer).setBigUint64(found.fileOffset, value(kernel), true);
  return copy;
}

type Kernel = Awaited<ReturnType<typeof openLinuxKernel>>;

function tasksField(kernel: Kernel): bigint {
  return BigInt(kernel.types()?.offset("task_struct.tasks") ?? assert.fail());
}

function root(kernel: Kernel): bigint {
  return kernel.info.symbol("swapper_pg_dir") ?? assert.fail();
}

Deno.test("page tables that ARM64 cannot have are refused", async () => {
  for (
    const [text, other] of [
      ["PAGESIZE=4096", "PAGESIZE=1234"],
      ["NUMBER(VA_BITS)=48", "NUMBER(VA_BITS)=99"],
      ["NUMBER(TCR_EL1_T1SZ)=0x10", "NUMBER(TCR_EL1_T1SZ)=0x3f"],
      ["NUMBER(kimage_voffset)", "NUMBER(kimage_nothing)"],
      ["SYMBOL(swapper_pg_dir)", "SYMBOL(swapper_absent)"],
    ] as const
  ) {
    await assertDumpRefused("vmcoreinfo", () => triage(withNote(text, other)));
  }
});

Deno.test("an ARM64 root that points to itself loses everything, and says so", async () => {
  const kernel = await openLinuxKernel(new MemorySource(CORE));
  const offset = kernel.info.number("kimage_voffset") ?? assert.fail();
  const copy = CORE.slice();
  const view = new DataView(copy.buffer);
  const found = kernel.memory.space.translate(root(kernel));
  assert.ok(!isAbsence(found) && found.fileOffset !== null);
  for (let entry = 0; entry < 512; entry++) {
    view.setBigUint64(found.fileOffset + 8 * entry, BigInt.asUintN(64, root(kernel) - offset) | 3n, true);
  }
  const answer = await triage(copy);
  assert.equal(answer.crash?.class, "unknown");
  assert.ok(answer.warnings.length > 0);
});

Deno.test("a list of ARM64 tasks that goes in circles ends, and says so", async () => {
  const second = (kernel: Kernel) => (kernel.tasks()[1]?.address ?? assert.fail()) + tasksField(kernel);
  const files = new MemoryFiles({ "/core": { bytes: await withWord(second, second) } });
  const { tasks, warnings } = await listDumpTasks(files, new StepClock(), {
    path: "/core",
    stacks: true,
    limit: 1000,
  });
  assert.ok(tasks.length >= 2);
  assert.deepEqual(warnings.map(({ reason }) => reason), ["kernel_list"]);
});

Deno.test("without its first task an ARM64 kernel that names functions only still tells the crash", async () => {
  const comm = (kernel: Kernel) => {
    const first = kernel.tasks()[0]?.address ?? assert.fail();
    const before = (kernel.memory.space.u64(first + tasksField(kernel) + 8n) ?? assert.fail()) -
      tasksField(kernel);
    return before + BigInt(kernel.types()?.offset("task_struct.comm") ?? assert.fail());
  };
  const answer = await triage(await withWord(comm, () => 0n));
  assert.equal(
    answer.bucket,
    "null-deref|hvcrash:hvcrash_store|hvcrash:hvcrash_pack|hvcrash:hvcrash_interrupted",
  );
  assert.equal(answer.stack_end, "bottom");
  assert.equal(answer.process, null);
  assert.deepEqual(answer.warnings.map(({ message }) => message), [
    "The kernel's first task was not found, so that none is listed",
  ]);
});

Deno.test("any words changed in an ARM64 core give an answer or a refusal", async () => {
  const offset = fc.oneof(fc.nat(NOTES_END), fc.nat(CORE.length - 8).map((at) => at & ~7));
  const value = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.nat(CORE.length - 8).map((at) => new DataView(CORE.buffer).getBigUint64(at & ~7, true)),
  );
  const changes = fc.array(fc.tuple(offset, value), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      const copy = CORE.slice();
      const view = new DataView(copy.buffer);
      for (const [at, word] of list) view.setBigUint64(at, word, true);
      try {
        const answer = await triage(copy);
        assert.ok(answer.summary.length > 0 && answer.stack.length <= 257);
      } catch (thrown) {
        assert.ok(thrown instanceof HvError && thrown.code === "hv.bad_dump", `threw ${thrown}`);
      }
    }),
    { numRuns: 30 },
  );
});
