import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { memoryFile } from "../../../../../src/drivers/qemu/checkpoints/files.ts";
import { CHECKPOINTS_FILE, readBook, saveBook } from "../../../../../src/drivers/qemu/checkpoints/records.ts";
import { settleSaved, startFromSaved } from "../../../../../src/drivers/qemu/checkpoints/saved.ts";
import { observe } from "../../../../../src/drivers/qemu/observe.ts";
import { openPause } from "../../../../../src/drivers/qemu/power/pause.ts";
import type { VmRecord } from "../../../../../src/drivers/qemu/records.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { stopVm } from "../../../../../src/drivers/qemu/power/stop.ts";
import { failureOf } from "../../../../support/failures.ts";
import { PLAIN_SHAPE, processOf, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const TAG = "save-0123abcd-4567-4890-abcd-ef0123456789";

async function addSaved(
  { context, addVm }: QemuBench,
  phase: "saving" | "saved" | "resuming",
): Promise<VmRecord> {
  const saved = { phase, tag: TAG, at: "2026-11-29T11:40:00.000Z", disks: [], memory: PLAIN_SHAPE };
  const record = await addVm({ saved });
  const path = memoryFile(context, VM_ID, TAG);
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, "memory");
  return record;
}

function hasMemory({ context }: QemuBench): boolean {
  try {
    return Deno.statSync(memoryFile(context, VM_ID, TAG)).isFile;
  } catch {
    return false;
  }
}

/** A machine that lives, in the run state that QEMU calls by this name. */
async function live({ host, context }: QemuBench, record: VmRecord, status: string): Promise<string[]> {
  await Deno.mkdir(record.runtime, { recursive: true });
  host.processes.table.push(processOf(context, VM_ID));
  const path = new RuntimeFolder(record.runtime).monitor("calls");
  const answers = { "query-jobs": [], "cont": {}, "stop": {}, "query-named-block-nodes": [] };
  return await listenAsMonitor(host, path, { uuid: uuidOf(VM_ID), status, answers });
}

Deno.test("a VM at rest is saved only when its memory is whole and still there", () =>
  withQemu(async (bench) => {
    const { context, scope } = bench;
    for (const [phase, state] of [["saving", "off"], ["saved", "saved"], ["resuming", "off"]] as const) {
      const record = await addSaved(bench, phase);
      assert.deepEqual(await observe(context, record, scope.signal), { state, alive: false }, phase);
    }
    const record = await addSaved(bench, "saved");
    await Deno.remove(memoryFile(context, VM_ID, TAG));
    assert.equal((await observe(context, record, scope.signal)).state, "off");
  }));

Deno.test("after a power cut in the middle of a save or a resume the memory is given up", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    for (const phase of ["saving", "resuming"] as const) {
      const record = await addSaved(bench, phase);
      const seen = await observe(context, record, scope.signal);
      assert.equal(await settleSaved(context, records, record, seen, scope.signal), false);
      assert.deepEqual([(await records.get(VM_ID)).saved, hasMemory(bench)], [undefined, false], phase);
    }
  }));

Deno.test("a machine that stands still where a save broke off goes on, and its record forgets first", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    const record = await addSaved(bench, "saved");
    const asked = await live(bench, record, "paused");
    const seen = await observe(context, record, scope.signal);
    assert.equal(await settleSaved(context, records, record, seen, scope.signal), true);
    assert.ok(asked.includes("cont"));
    assert.deepEqual([(await records.get(VM_ID)).saved, hasMemory(bench)], [undefined, false]);
  }));

Deno.test("a machine that was loaded and never ran leaves its memory good for another start", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    const record = await addSaved(bench, "resuming");
    const asked = await live(bench, record, "prelaunch");
    const seen = await observe(context, record, scope.signal);
    assert.equal(await settleSaved(context, records, record, seen, scope.signal), false);
    assert.deepEqual([(await records.get(VM_ID)).saved?.phase, hasMemory(bench)], ["saved", true]);
    assert.ok(!asked.includes("cont"));
  }));

Deno.test("a saved VM cannot hear a shutdown, and off gives its memory up", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    await addSaved(bench, "saved");
    const failure = await failureOf("hv.conflict", () => stopVm(context, records, VM_ID, "shutdown", scope));
    assert.equal(failure.context.found, "saved");
    await stopVm(context, records, VM_ID, "save", scope);
    assert.ok(hasMemory(bench));
    await stopVm(context, records, VM_ID, "off", scope);
    const record = await records.get(VM_ID);
    assert.equal((await observe(context, record, scope.signal)).state, "off");
    assert.deepEqual([record.saved, hasMemory(bench)], [undefined, false]);
  }));

Deno.test("pausing asks only a running machine, resuming only one that stands still", () =>
  withQemu(async (bench) => {
    const { context, records, scope, host } = bench;
    const pause = openPause(context, records);
    const deeds: ["pause" | "resume", string, string | undefined, boolean][] = [
      ["pause", "running", "stop", true],
      ["pause", "paused", undefined, true],
      ["pause", "guest-panicked", undefined, false],
      ["pause", "io-error", undefined, false],
      ["resume", "paused", "cont", true],
      ["resume", "running", undefined, true],
      ["resume", "guest-panicked", undefined, false],
    ];
    for (const [deed, status, command, works] of deeds) {
      const record = await bench.addVm();
      await Deno.mkdir(record.runtime, { recursive: true });
      const answers = { "query-jobs": [], "cont": {}, "stop": {}, "query-block": [] };
      const path = new RuntimeFolder(record.runtime).monitor("calls");
      const asked = await listenAsMonitor(host, path, { uuid: uuidOf(VM_ID), status, answers });
      if (works) await pause[deed](VM_ID, scope);
      else await failureOf("hv.conflict", () => pause[deed](VM_ID, scope));
      const sent = asked.filter((name) => name === "stop" || name === "cont");
      assert.deepEqual(sent, command === undefined ? [] : [command], `${deed} while ${status}`);
    }
  }));

Deno.test("a boot ends the mark of a broken restore and takes away memory that a killed call left", () =>
  withQemu(async (bench) => {
    const { context, records } = bench;
    await bench.addVm();
    const id = "ckpt-0123abcd-4567-4890-abcd-ef0123456789";
    const stray = memoryFile(context, VM_ID, id);
    await Deno.mkdir(stray.slice(0, stray.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(stray, "memory");
    const book = { schema: 1, current: null, checkpoints: [] };
    await saveBook(context, VM_ID, { ...book, restoring: id });
    assert.equal(await startFromSaved(context, records, VM_ID), undefined);
    assert.deepEqual(await readBook(context, VM_ID), book);
    assert.equal(await context.host.files.stat(stray), undefined);
  }));

Deno.test("a damaged list of checkpoints keeps no VM from booting", () =>
  withQemu(async (bench) => {
    const { context, records } = bench;
    await bench.addVm();
    const path = `${context.state.vm(VM_ID)}/${CHECKPOINTS_FILE}`;
    await Deno.writeTextFile(path, "{");
    assert.equal(await startFromSaved(context, records, VM_ID), undefined);
    assert.equal(await Deno.readTextFile(path), "{");
  }));

Deno.test("a resume from saved memory leaves the mark of a broken restore", () =>
  withQemu(async (bench) => {
    const { context, records } = bench;
    await addSaved(bench, "saved");
    await saveBook(context, VM_ID, { schema: 1, current: null, checkpoints: [], restoring: "ckpt-x" });
    // Its memory is not whole, so the start is refused.
    await assert.rejects(() => startFromSaved(context, records, VM_ID));
    assert.equal((await readBook(context, VM_ID)).restoring, "ckpt-x");
  }));
