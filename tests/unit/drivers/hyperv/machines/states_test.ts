import assert from "node:assert/strict";
import fc from "fast-check";
import { VmState } from "../../../../../src/contract/vm.ts";
import { stateOf } from "../../../../../src/drivers/hyperv/machines/states.ts";

Deno.test("each of the module's states has one of ours", () => {
  const states: [number, string, VmState][] = [
    [2, "Running", "running"],
    [3, "Off", "off"],
    [4, "Stopping", "stopping"],
    [6, "Saved", "saved"],
    [9, "Paused", "paused"],
    [10, "Starting", "starting"],
    [11, "Reset", "resetting"],
    [32773, "Saving", "saving"],
    [32776, "Pausing", "pausing"],
    [32777, "Resuming", "starting"],
    [32779, "FastSaved", "saved"],
    [32780, "FastSaving", "saving"],
    [32785, "RunningCritical", "io_error"],
    [32796, "FastSavingCritical", "io_error"],
  ];
  for (const [number, name, state] of states) assert.equal(stateOf(number, name, [2]).state, state, name);
});

Deno.test("an unknown number is unknown and says which", () => {
  const seen = stateOf(4711, "Levitating", []);
  assert.equal(seen.state, "unknown");
  assert.match(seen.reason ?? "", /4711 "Levitating"/);
  fc.assert(fc.property(fc.integer(), fc.string(), (number, name) => {
    assert.ok(VmState.safeParse(stateOf(number, name, []).state).success);
  }));
});

Deno.test("a merge shows on a machine that is off only", () => {
  assert.equal(stateOf(3, "Off", [2, 32772]).state, "merging");
  assert.equal(stateOf(2, "Running", [2, 32772]).state, "running");
});
