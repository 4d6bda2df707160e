import assert from "node:assert/strict";
import { readOutcome } from "../../../../src/flows/machines/first_boot.ts";

function outcome(parts: Record<string, string>): ReturnType<typeof readOutcome> {
  return readOutcome(new Map(Object.entries(parts)));
}

const WELL = '{"v1": {"datasource": "DataSourceNoCloud [seed=/dev/vdb]", "errors": []}}';

Deno.test("cloud-init that runs on, is away or off is told from one that has ended", () => {
  for (const state of ["running", "absent", "disabled"]) {
    assert.deepEqual(outcome({ state: `${state}\n`, result: WELL }), { state });
  }
  assert.deepEqual(outcome({ state: "done\n", result: WELL, log: "" }), { state: "done" });
});

Deno.test("errors and user data that were given up are failures, other warnings are not", () => {
  const log = "2026-11-30 00:00:00,123 - schema.py[WARNING]: Invalid cloud-config provided\n" +
    "2026-11-30 00:00:01,123 - util.py[WARNING]: Failed loading yaml blob. Invalid format at line 2\n";
  const [warning = "", givenUp = ""] = log.split("\n");
  assert.deepEqual(outcome({ state: "done\n", result: WELL, log: `${warning}\n` }), {
    state: "done",
    warnings: ["schema.py[WARNING]: Invalid cloud-config provided"],
  });
  assert.deepEqual(outcome({ state: "done\n", result: WELL, log: `${givenUp}\n` }), {
    state: "failed",
    errors: ["util.py[WARNING]: Failed loading yaml blob. Invalid format at line 2"],
  });
  const failed = '{"v1": {"datasource": "x", "errors": ["(\'scripts_user\', RuntimeError(\'1 failed\'))"]}}';
  assert.deepEqual(outcome({ state: "done\n", result: failed }), {
    state: "failed",
    errors: ["('scripts_user', RuntimeError('1 failed'))"],
  });
});

Deno.test("a result that cannot be read is no success", () => {
  for (const result of ["", "{", "[]", '{"v1": {}}']) {
    assert.deepEqual(outcome({ state: "done\n", result }), {
      state: "failed",
      errors: ["its result.json cannot be read"],
    });
  }
});
