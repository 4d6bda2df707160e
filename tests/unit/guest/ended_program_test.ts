import assert from "node:assert/strict";
import { timeoutError } from "../../../src/base/deadline.ts";
import { HvError } from "../../../src/base/errors.ts";
import { withProgramEnd } from "../../../src/guest/ended_program.ts";

Deno.test("a passed limit says what became of the program", () => {
  const late = timeoutError(1_500);
  const ended = withProgramEnd(late, 42, true);
  assert.equal(
    ended.message,
    "The time limit of 1.5 s has passed; the program in the guest was ended with all that it had started",
  );
  assert.deepEqual(ended.context, { timeout_ms: 1_500, guest_pid: 42, guest_program_ended: true });
  assert.equal(ended.hint, late.hint);
  const unseen = withProgramEnd(late, 42, false);
  assert.match(unseen.message, /^The time limit of 1\.5 s has passed; it was not seen whether .+ 42$/);
  assert.equal(unseen.context.guest_program_ended, false);
});

Deno.test("a failure that the guest is to blame for keeps its words", () => {
  const crash = withProgramEnd(new HvError("hv.guest_crashed", "It crashed"), 42, false);
  assert.equal(crash.message, "It crashed");
  assert.equal(crash.context.guest_pid, 42);
});
