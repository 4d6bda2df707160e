import assert from "node:assert/strict";
import { bringIntoBeing, refuseTakenName } from "../../../../src/drivers/qemu/creation.ts";
import { openConfigure } from "../../../../src/drivers/qemu/configure.ts";
import { failureOf } from "../../../support/failures.ts";
import { OTHER_ID, recordOf, VM_ID, withQemu } from "../../../support/qemu_context.ts";

const THIRD_ID = "vm-aaaaaaaa-7654-4210-8fed-cba987654321";

Deno.test("who names a VM is told of each that may have the name, and of none when all can be read", () =>
  withQemu(async ({ context, records, scope, addVm }) => {
    const warnings: string[] = [];
    const told = { ...scope, warn: (text: string) => void warnings.push(text) };
    await addVm({ name: "web" });
    await addVm({ id: OTHER_ID });
    await openConfigure(context, records).rename(OTHER_ID, "free", told);
    assert.deepEqual(warnings, []);
    const record = `${context.state.vm(VM_ID)}/vm.json`;
    await Deno.truncate(record, 40);
    await openConfigure(context, records).rename(OTHER_ID, "web", told);
    assert.deepEqual(warnings, [
      `The record "${record}" of a VM is damaged: that VM may have the name "web" too`,
    ]);
    await failureOf("hv.conflict", () => refuseTakenName(records, "web"));
  }));

Deno.test("a new lasting VM comes with that warning, a sandbox without", () =>
  withQemu(async ({ context, records, scope, addVm }) => {
    const warnings: string[] = [];
    const told = { ...scope, warn: (text: string) => void warnings.push(text) };
    await addVm();
    await Deno.truncate(`${context.state.vm(VM_ID)}/vm.json`, 40);
    const sandbox = { ...recordOf(OTHER_ID), sandbox: { expires_at: "2026-11-29T13:00:00.000Z" } };
    await bringIntoBeing(context, records, OTHER_ID, () => Promise.resolve(sandbox), told);
    assert.deepEqual(warnings, []);
    const lasting = { ...recordOf(THIRD_ID), name: "web" };
    await bringIntoBeing(context, records, THIRD_ID, () => Promise.resolve(lasting), told);
    assert.equal((await records.get(THIRD_ID)).name, "web");
    assert.deepEqual(warnings.map((text) => /the name "web" too$/.test(text)), [true]);
  }));
