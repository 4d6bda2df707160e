import assert from "node:assert/strict";
import { memoryFile } from "../../../../../src/drivers/qemu/checkpoints/files.ts";
import { askOnMachine, MACHINE_IS_ON } from "../../../../../src/drivers/qemu/console/running.ts";
import { failureOf } from "../../../../support/failures.ts";
import { PLAIN_SHAPE, processOf, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

const TAG = "save-0123abcd-4567-4890-abcd-ef0123456789";

Deno.test("a machine without a monitor is told as what it is, and not as off", () =>
  withQemu(async ({ context, records, host, scope, addVm }) => {
    const refused = () =>
      failureOf("hv.conflict", () =>
        askOnMachine(
          context,
          records,
          VM_ID,
          { action: "look at", states: MACHINE_IS_ON, signal: scope.signal },
          () => Promise.resolve({}),
        ));
    await addVm();
    assert.equal((await refused()).context.found, "off");
    const path = memoryFile(context, VM_ID, TAG);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, "memory");
    await addVm({
      saved: { phase: "saved", tag: TAG, at: "2026-11-29T11:40:00.000Z", disks: [], memory: PLAIN_SHAPE },
    });
    assert.equal((await refused()).context.found, "saved");
    host.processes.table.push(processOf(context, VM_ID));
    const lost = await refused();
    assert.equal(lost.context.found, "unknown");
    assert.match(lost.message, /Its monitor socket is gone/);
  }));
