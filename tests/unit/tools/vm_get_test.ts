import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import type { CheckpointListing } from "../../../src/drivers/checkpoint_abilities.ts";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";

async function warningsOfGet(list: () => Promise<CheckpointListing>): Promise<readonly string[]> {
  const driver = new MemoryDriver();
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  await lab.call("vm_create", { name: "web", image: "tiny" });
  driver.checkpoints.list = list;
  const surroundings = { signal: AbortSignal.timeout(60_000), progress: () => {} };
  const answer = await lab.pipeline.call({ tool: "vm_get", args: { vm: "web" } }, surroundings);
  assert.ok(answer.kind === "done");
  assert.equal(answer.result.name, "web");
  return answer.warnings;
}

Deno.test("a VM is shown with what is not in order with its checkpoints", async () => {
  const warnings = ["The restore of ckpt-1 did not end"];
  assert.deepEqual(await warningsOfGet(() => Promise.resolve({ checkpoints: [], warnings })), warnings);
  assert.deepEqual(await warningsOfGet(() => Promise.resolve({ checkpoints: [], warnings: [] })), []);
});

Deno.test("a VM is shown although its checkpoints cannot be looked at, and that is told", async () => {
  const damaged = (): Promise<never> => Promise.reject(new HvError("hv.io", "The record is damaged"));
  assert.deepEqual(await warningsOfGet(damaged), ["Cannot look at its checkpoints: The record is damaged"]);
});
