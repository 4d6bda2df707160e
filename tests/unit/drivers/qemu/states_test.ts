import assert from "node:assert/strict";
import { stateOf } from "../../../../src/drivers/qemu/states.ts";
import { VmState } from "../../../../src/contract/vm.ts";

/** Every run state of QEMU 7.2's schema. */
const RUN_STATES = [
  "debug",
  "inmigrate",
  "internal-error",
  "io-error",
  "paused",
  "postmigrate",
  "prelaunch",
  "finish-migrate",
  "restore-vm",
  "running",
  "save-vm",
  "shutdown",
  "suspended",
  "watchdog",
  "guest-panicked",
  "colo",
];

Deno.test("every run state of QEMU has a state of ours, and the odd ones a reason", () => {
  for (const status of RUN_STATES) {
    const { state, reason } = stateOf(status);
    VmState.parse(state);
    assert.notEqual(state, "unknown", status);
    assert.equal(
      ["crashed", "io_error"].includes(state),
      reason !== undefined && status !== "watchdog",
      status,
    );
  }
});

Deno.test("a panic and a failing KVM are crashes", () => {
  assert.equal(stateOf("guest-panicked").state, "crashed");
  assert.equal(stateOf("internal-error").state, "crashed");
});

Deno.test("a full host disk is named as the reason", () => {
  assert.deepEqual(stateOf("io-error", { diskFull: true }), {
    state: "io_error",
    reason: "The host's disk is full",
  });
  assert.notEqual(stateOf("io-error").reason, stateOf("io-error", { diskFull: true }).reason);
});

Deno.test("a run state of a later QEMU is unknown, with its name", () => {
  const { state, reason } = stateOf("hibernating");
  assert.equal(state, "unknown");
  assert.match(reason ?? "", /hibernating/);
});
