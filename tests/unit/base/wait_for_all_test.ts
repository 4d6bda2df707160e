import assert from "node:assert/strict";
import { waitForAll } from "../../../src/base/wait_for_all.ts";

Deno.test("all results come in their order", async () => {
  const [one, two] = await waitForAll([Promise.resolve(1), "two"]);
  assert.equal(one, 1);
  assert.equal(two, "two");
});

Deno.test("a failure is thrown when the other work has ended", async () => {
  const slow = Promise.withResolvers<void>();
  let thrown = false;
  const all = waitForAll([Promise.reject(new Error("broken")), slow.promise]).catch(() => thrown = true);
  await Promise.resolve();
  assert.equal(thrown, false);
  slow.resolve();
  await all;
  assert.equal(thrown, true);
});
