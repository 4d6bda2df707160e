import assert from "node:assert/strict";
import { type ErrorCode, HvError } from "../../../../src/base/errors.ts";
import { answerCrash } from "../../../../src/flows/crashes/crash_policy.ts";
import { wakeHungGuest } from "../../../../src/flows/crashes/guest_panic.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

/** The code of the answer about a guest that was interrupted after a call had failed with this one. */
async function answeredCode(code: ErrorCode): Promise<ErrorCode> {
  await using host = await ScriptedHost.open();
  const driver = new MemoryDriver();
  const id = await driver.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  await driver.vms.start(id);
  await driver.nmi.inject(id, { signal: new AbortController().signal, progress: () => {} });
  const scope = { signal: new AbortController().signal, progress: () => {}, warn: () => {} };
  assert.equal(await wakeHungGuest({ host, driver }, await driver.vms.get(id), scope.signal), true);
  const folder = `${host.root}/crash`;
  const options = { host, driver, id, policy: "collect", folder, spare: folder } as const;
  const { error } = await answerCrash(new HvError(code, "silence"), options, scope);
  assert.equal(error.message, "silence");
  return error.code;
}

Deno.test("a guest that was silent and crashed when it was interrupted is a crashed one, and a time limit stays", async () => {
  assert.equal(await answeredCode("hv.outcome_unknown"), "hv.guest_crashed");
  assert.equal(await answeredCode("hv.timeout"), "hv.timeout");
  assert.equal(await answeredCode("hv.guest_crashed"), "hv.guest_crashed");
});
