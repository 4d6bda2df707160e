import assert from "node:assert/strict";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { RationedSource } from "../../../../src/dump/linux/rationed_source.ts";
import { failureOf } from "../../../support/failures.ts";

Deno.test("a ration is read to its last byte and no further, over all reads", async () => {
  const source = new RationedSource(new MemorySource(Uint8Array.of(1, 2, 3, 4, 5, 6)), 4);
  assert.equal(source.size, 6);
  assert.deepEqual([...source.read(0, 3)], [1, 2, 3]);
  const failure = await failureOf("hv.bad_dump", () => source.read(3, 2));
  assert.equal(failure.context["reason"], "read_limit");
  assert.deepEqual([...source.read(5, 100)], [6], "what lies behind the end costs nothing");
  await failureOf("hv.bad_dump", () => source.read(0, 1));
});
