import assert from "node:assert/strict";
import { filetimeToIso, unixToIso } from "../../../src/dump/time.ts";

Deno.test("FILETIMEs are cut to microseconds", () => {
  assert.equal(filetimeToIso(0x1D707F23DBB3399n), "2021-02-21T01:38:22.987765Z");
  assert.equal(filetimeToIso(0x1DA498AED83C000n), "2024-01-17T21:20:00Z");
  assert.equal(filetimeToIso(116_444_736_000_000_019n), "1970-01-01T00:00:00.000001Z");
  assert.equal(filetimeToIso(116_444_735_999_999_999n), "1969-12-31T23:59:59.999999Z");
  assert.equal(filetimeToIso(1n), "1601-01-01T00:00:00Z");
});

Deno.test("what is no date has no text", () => {
  assert.equal(filetimeToIso(0n), null);
  assert.equal(filetimeToIso(0xFFFFFFFFFFFFFFFFn), null);
  assert.equal(unixToIso(0), null);
  assert.equal(unixToIso(Number.MAX_SAFE_INTEGER), null);
  assert.equal(unixToIso(1_700_000_000), "2023-11-14T22:13:20Z");
});
