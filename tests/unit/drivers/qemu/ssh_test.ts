import assert from "node:assert/strict";
import { openQemuDriver } from "../../../../src/drivers/qemu/driver.ts";
import { prepareSshFolder } from "../../../../src/guest/ssh/keys.ts";
import { failureOf } from "../../../support/failures.ts";
import { withQemu } from "../../../support/qemu_context.ts";

Deno.test("a guest's folder is made in its VM's, private, and more than once", () =>
  withQemu(async ({ context, addVm }) => {
    const { id } = await addVm();
    const driver = openQemuDriver(context);
    const folder = driver.guestFolder?.(id);
    assert.equal(folder?.path, `${context.state.vm(id)}/guest`);
    await assert.rejects(Deno.stat(folder.path), Deno.errors.NotFound);
    await folder.make();
    await folder.make();
    assert.equal((await Deno.stat(folder.path)).mode?.toString(8).slice(-3), "700");
    await driver.close();
  }));

Deno.test("neither a guest's folder nor a key brings a VM back that has been removed", () =>
  withQemu(async ({ host, context, records, scope, addVm }) => {
    const { id } = await addVm();
    const driver = openQemuDriver(context);
    const folder = driver.guestFolder?.(id);
    assert.ok(folder !== undefined);
    await Deno.remove(context.state.vm(id), { recursive: true });
    const failure = await failureOf("hv.not_found", () => folder.make());
    assert.equal(failure.message, `The VM "${id}" has been removed`);
    await failureOf("hv.not_found", () => prepareSshFolder(host, `${folder.path}/ssh`, scope.signal));
    assert.deepEqual((await records.list()).damaged, []);
    await driver.close();
  }));
