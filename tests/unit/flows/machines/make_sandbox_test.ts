import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../../../src/config/config.ts";
import { makeSandbox } from "../../../../src/flows/machines/make_sandbox.ts";
import { systemClock } from "../../../../src/host/clock.ts";
import { failureOf } from "../../../support/failures.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";

Deno.test("the failure of a sandbox stands when it cannot be removed, which is told", async () => {
  const driver = new MemoryDriver();
  const { create } = driver.sandboxes;
  driver.sandboxes.create = async (spec) => {
    const id = await create(spec);
    await driver.vms.stop(id, "off");
    return id;
  };
  driver.vms.remove = () => Promise.reject(new HvError("hv.io", "The disk is gone"));
  const warnings: string[] = [];
  const scope = {
    signal: new AbortController().signal,
    clock: systemClock,
    progress: () => {},
    warn: (text: string) => void warnings.push(text),
  };
  const wish = { image: "tiny", ttl_s: 60, tiedToUs: true };
  const failure = await failureOf("hv.conflict", () => makeSandbox(driver, DEFAULT_CONFIG, wish, scope));
  const [id] = driver.machines.keys();
  assert.deepEqual([failure.context.found, failure.context.vm], ["off", id]);
  assert.ok(failure.hint?.endsWith(`The sandbox ${id} could not be removed`), failure.hint);
  assert.deepEqual(warnings, [`The sandbox ${id} could not be removed: The disk is gone`]);
});
