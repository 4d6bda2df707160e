/** What the commands say of files that are no cores, and of cores of which little is left. */

import assert from "node:assert/strict";
import { listDumpTasks, renderDumpTasks } from "../../../../src/debugger/linux/list_tasks.ts";
import { readDumpLog, renderDumpLog } from "../../../../src/debugger/linux/read_log.ts";
import { renderTriage } from "../../../../src/debugger/triage/render.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { elfCore } from "../../../support/dump_writer.ts";
import { elfCoreOf } from "../../../support/linux_core_writer.ts";
import { LinuxMachine, PLACES } from "../../../support/linux_machine.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { assertDumpRefused } from "../../../support/refused.ts";
import { StepClock } from "../../../support/step_clock.ts";

const TEXT = new TextEncoder().encode("[    1.000000] BUG: kernel NULL pointer dereference, address: 0\n");

function filesWith(bytes: Uint8Array): MemoryFiles {
  return new MemoryFiles({ "/core": { bytes } });
}

Deno.test("the log and the tasks of a text are refused with what it is", async () => {
  const files = filesWith(TEXT);
  await assertDumpRefused("unsupported_kind", () => readDumpLog(files, new StepClock(), { path: "/core" }));
  await assertDumpRefused(
    "unsupported_kind",
    () => listDumpTasks(files, new StepClock(), { path: "/core", stacks: false, limit: 10 }),
  );
});

Deno.test("what is neither a dump nor text stays refused", async () => {
  const files = filesWith(new Uint8Array(5000).fill(0x81).fill(2, 100, 4000));
  await assertDumpRefused(
    "bad_signature",
    () => triageDumpFile(files, new StepClock(), { path: "/core", full: false }),
  );
});

Deno.test("a core without a log is no silent machine", async () => {
  const damage = (machine: LinuxMachine) => machine.u64(PLACES.log, 1n).u32(PLACES.data + 0x40n, -1 >>> 0);
  const files = filesWith(elfCoreOf(new LinuxMachine({ damage })));
  const answer = await triageDumpFile(files, new StepClock(), { path: "/core", full: false });
  assert.equal(answer.crash?.class, "unknown");
  assert.match(answer.summary, /^Not told what happened/);
  assert.match(renderTriage(answer), /warning {2}missing_memory: Cannot read the log's/);
  await assertDumpRefused("kernel_log", () => readDumpLog(files, new StepClock(), { path: "/core" }));
});

Deno.test("the log and the tasks as a person sees them", async () => {
  const files = filesWith(elfCoreOf(new LinuxMachine()));
  const log = await readDumpLog(files, new StepClock(), { path: "/core", tail: 1 });
  assert.equal(
    renderDumpLog(log),
    "... 1 lines before; --tail sets how many are shown\n" +
      "[    1.000001] BUG: kernel NULL pointer dereference, address: 0000000000000018",
  );
  const tasks = await listDumpTasks(files, new StepClock(), { path: "/core", stacks: true, limit: 10 });
  assert.equal(
    renderDumpTasks(tasks),
    [
      "    PID  PROCESS  CPU  S  NAME",
      "     42       42    0  R  [sh]  (running)",
      "            vmlinux!panic+0x10",
      "            vmlinux!oops_end+0x10",
      "            vmlinux!asm_exc_page_fault+0x10",
      "            mymod!mymod_fault+0x8",
      "            vmlinux!caller+0x10",
      "            vmlinux!entry+0x10",
      "     43       43    0  D  [sleeper]",
      "            vmlinux!caller+0x10",
      "            vmlinux!entry+0x10",
      "2 of 2 tasks",
    ].join("\n"),
  );
  const waiting = await listDumpTasks(files, new StepClock(), {
    path: "/core",
    stacks: false,
    state: "D",
    limit: 10,
  });
  assert.deepEqual(waiting.tasks.map(({ pid }) => pid), [43]);
});

Deno.test("cores of one process and of other machines are refused with what they are", async () => {
  const ofProcess = elfCore([["CORE", 1, "registers"], ["CORE", 3, "process"]]).bytes;
  const ofRiscv = elfCoreOf(new LinuxMachine());
  new DataView(ofRiscv.buffer).setUint16(18, 243, true);
  const narrow = elfCoreOf(new LinuxMachine());
  narrow[4] = 1;
  for (const bytes of [ofProcess, ofRiscv, narrow]) {
    await assertDumpRefused(
      "unsupported_kind",
      () => triageDumpFile(filesWith(bytes), new StepClock(), { path: "/core", full: false }),
    );
  }
});
