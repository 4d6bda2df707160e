import assert from "node:assert/strict";
import { openSwitches } from "../../../../../src/drivers/qemu/network/switches.ts";
import { failureOf } from "../../../../support/failures.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";

Deno.test("a switch stays while a VM's record cannot be read, and the record is named", () =>
  withQemu(async ({ context, records, scope, addVm }) => {
    const switches = openSwitches(context, records);
    const id = await switches.create({ name: "lan", type: "private" }, scope);
    const sound = await addVm({ nics: [{ number: 0, switch: id }] });
    const used = await failureOf("hv.conflict", () => switches.remove(id, scope));
    assert.deepEqual(used.context.vms, [VM_ID]);
    const record = `${context.state.vm(VM_ID)}/vm.json`;
    await Deno.truncate(record, 40);
    const error = await failureOf("hv.io", () => switches.remove(id, scope));
    assert.deepEqual([error.context.record, error.context.vm, error.context.switch], [record, VM_ID, id]);
    assert.ok(error.message.includes(record), error.message);
    assert.ok((await switches.list(scope.signal)).some((each) => each.id === id));
    await records.save({ ...sound, nics: [] });
    await switches.remove(id, scope);
    assert.ok((await switches.list(scope.signal)).every((each) => each.id !== id));
  }));
