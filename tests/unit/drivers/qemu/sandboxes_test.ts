import assert from "node:assert/strict";
import { VmRecords } from "../../../../src/drivers/qemu/records.ts";
import { Sandboxes } from "../../../../src/drivers/qemu/sandboxes.ts";
import { OTHER_ID, VM_ID, withQemu } from "../../../support/qemu_context.ts";

const OVER = { expires_at: "2026-11-29T11:59:00.000Z" };
const NEW = { expires_at: "2026-11-29T13:00:00.000Z" };

Deno.test("a sandbox with a new lease since the sweep began stays", () =>
  withQemu(async ({ context, records, scope, addVm }) => {
    await addVm({ id: OTHER_ID, sandbox: OVER });
    const ready = await addVm({ sandbox: OVER, template: { fingerprint: "0".repeat(32), pooled: true } });
    class ClaimedMeanwhile extends VmRecords {
      override async list(): ReturnType<VmRecords["list"]> {
        const seen = await super.list();
        await this.save({
          ...ready,
          name: "claimed",
          sandbox: NEW,
          template: { fingerprint: "0".repeat(32) },
        });
        return seen;
      }
    }
    const removed = await new Sandboxes(context, new ClaimedMeanwhile(context)).sweep(scope);
    assert.deepEqual(removed.map(({ id }) => id), [OTHER_ID]);
    assert.equal((await records.find(VM_ID))?.name, "claimed");
  }));
