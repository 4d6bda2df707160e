import assert from "node:assert/strict";
import { storeFailure } from "../../../src/state/sqlite_failures.ts";

Deno.test("what a full disk makes SQLite say tells how to free space, and the database", () => {
  const full = storeFailure(new Error("database or disk is full"), "save the plan", "/s/hvlab.db");
  assert.equal(full.code, "hv.io");
  assert.match(full.message, /^Cannot save the plan in "\/s\/hvlab\.db": the disk is full$/);
  assert.deepEqual(full.context, { path: "/s/hvlab.db", reason: "disk_full" });
  assert.match(full.hint ?? "", /hvlab vm orphans/);

  const unclear = storeFailure(new Error("disk I/O error"), "save the plan", "/s/hvlab.db");
  assert.equal(unclear.code, "hv.io");
  assert.deepEqual(unclear.context, { path: "/s/hvlab.db", reason: "io" });
  assert.match(unclear.hint ?? "", /free space of the disk .* `hvlab vm orphans`/);
});
