import assert from "node:assert/strict";
import {
  forgetCrashMark,
  isMarkedCrashed,
  markCrashed,
  statusWithMark,
} from "../../../../../src/drivers/qemu/crashes/mark.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";

Deno.test("a mark stands for one run of a VM with a policy, and only behind what QEMU calls running or paused", () =>
  withQemu(async ({ context, addVm }) => {
    const record = await addVm({ on_crash: "collect" });
    assert.equal(await statusWithMark(context, record, "paused"), "paused");
    await markCrashed(context, record);
    for (const status of ["running", "paused"]) {
      assert.equal(await statusWithMark(context, record, status), "guest-panicked");
    }
    assert.equal(await statusWithMark(context, record, "io-error"), "io-error");
    const { on_crash: _, ...without } = record;
    assert.equal(await statusWithMark(context, without, "paused"), "paused");
    const later = {
      ...record,
      last_start: { pid: 78, at: "2026-11-29T12:00:00.000Z", accelerator: "tcg", qemu: "7" },
    };
    assert.equal(await isMarkedCrashed(context, later), false);
    await forgetCrashMark(context, VM_ID);
    assert.equal(await isMarkedCrashed(context, record), false);
  }));

Deno.test("a damaged mark is none, and one without a run stands for nothing", () =>
  withQemu(async ({ context, addVm }) => {
    const { last_start: _, ...never } = await addVm({ on_crash: "collect" });
    await markCrashed(context, never);
    assert.equal(await isMarkedCrashed(context, never), false);
    await Deno.writeTextFile(`${context.state.vm(VM_ID)}/crashed.json`, "{");
    assert.equal(await isMarkedCrashed(context, never), false);
  }));
