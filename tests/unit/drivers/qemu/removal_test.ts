import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { removeVm } from "../../../../src/drivers/qemu/removal.ts";
import { openGuestFolder } from "../../../../src/drivers/qemu/ssh.ts";
import { SECRET_TOOL, storeCredential } from "../../../../src/guest/credentials.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../support/qemu_context.ts";

const WORDS = ["application", "hvlab", "guest", VM_ID, "user", "root"];
const PASSWORD = "s3cret";

/** A VM of whose guest the desktop's store keeps a login. */
async function addVmWithLogin({ host, context, scope, addVm }: QemuBench): Promise<void> {
  await addVm();
  host.processes.places.set(SECRET_TOOL, "/usr/bin/secret-tool");
  host.processes.expect(SECRET_TOOL, /^store/);
  host.processes.expect(SECRET_TOOL, ["lookup", ...WORDS], { stdout: PASSWORD });
  const place = { host, folder: openGuestFolder(context, VM_ID), key: VM_ID };
  await storeCredential(place, { user: "root", password: PASSWORD }, scope.signal);
}

Deno.test("a login in the desktop's store goes with its VM", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    await addVmWithLogin(bench);
    host.processes.expect(SECRET_TOOL, ["clear", ...WORDS]);
    const { removed, warnings } = await removeVm(context, records, VM_ID, scope);
    assert.deepEqual([removed, warnings], [true, undefined]);
    host.processes.assertAllRun();
  }));

Deno.test("a store that does not answer is told, and the VM goes", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    await addVmWithLogin(bench);
    const failure = new HvError("hv.timeout", "The store asks for a password");
    host.processes.expect(SECRET_TOOL, ["clear", ...WORDS], { failure });
    const { removed, warnings } = await removeVm(context, records, VM_ID, scope);
    assert.equal(removed, true);
    assert.deepEqual(warnings, [
      "A login of its guest may still be in the password store: The store asks for a password",
    ]);
  }));
