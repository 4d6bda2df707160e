import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import type { VmState } from "../../../../src/contract/vm.ts";
import { explainLoss } from "../../../../src/drivers/qemu/lost_guest.ts";
import { systemClock } from "../../../../src/host/clock.ts";

function lookAt(...states: VmState[]) {
  return {
    clock: systemClock,
    state: () => Promise.resolve(states.length > 1 ? states.shift() ?? "off" : states[0] ?? "off"),
    lastWords: () => Promise.resolve("Kernel panic"),
    wayAfterCrash: "Restart the VM",
  };
}

const lost = new HvError("hv.outcome_unknown", "No answer", { hint: "Look", context: { commands: [] } });

Deno.test("an answer lost with its machine says that the VM is off", async () => {
  const told = await explainLoss(lost, lookAt("unknown", "off"));
  assert.equal(told.code, "hv.outcome_unknown");
  assert.match(told.message, /^No answer; the VM is off now$/);
  assert.deepEqual(told.context, { commands: [], found: "off" });
});

Deno.test("an answer lost while the machine runs on stays as it was", async () => {
  assert.equal(await explainLoss(lost, lookAt("running")), lost);
});

Deno.test("a crash carries the guest's last words, other failures are left alone", async () => {
  const crash = new HvError("hv.guest_crashed", "It crashed");
  const told = await explainLoss(crash, lookAt("crashed"));
  assert.equal(told.context.serial_tail, "Kernel panic");
  assert.equal(told.hint, "Restart the VM. Its serial log ends: Kernel panic");
  const other = new HvError("hv.io", "No");
  assert.equal(await explainLoss(other, lookAt("off")), other);
});
