import assert from "node:assert/strict";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";

Deno.test("an operation that is not there is not told as the operation of the call that asked", async () => {
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(new MemoryDriver()), image: "tiny" });
  const error = await lab.failure("op_wait", { op: "op-x" });
  assert.equal(error.code, "hv.not_found");
  assert.deepEqual([error.context.op, error.context.operation], [undefined, "op-x"]);
});
