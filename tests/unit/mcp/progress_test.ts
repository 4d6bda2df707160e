import assert from "node:assert/strict";
import { ProgressReporter } from "../../../src/mcp/progress.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

interface Step {
  at: number;
  progress: number;
  message: string;
}

/** A reporter on a clock that jumps, and what it has told. */
function start(): { clock: VirtualClock; told: Step[]; reporter: ProgressReporter; cancel: AbortController } {
  const clock = new VirtualClock();
  const told: Step[] = [];
  const cancel = new AbortController();
  const reporter = new ProgressReporter(
    ({ progress, message }) => {
      told.push({ at: clock.passed, progress, message });
      return Promise.resolve();
    },
    clock,
    cancel.signal,
  );
  return { clock, told, reporter, cancel };
}

Deno.test("a flood of steps is told a few times a second, the last one included", async () => {
  const { clock, told, reporter } = start();
  using _ = reporter;
  for (let step = 1; step <= 1_000; step++) {
    reporter.report({ message: `step ${step}` });
    clock.advance(1);
  }
  await clock.sleep(400);
  assert.ok(told.length <= 6, `${told.length} steps in a second`);
  assert.equal(told.at(-1)?.message, "step 1000");
  assert.deepEqual(told.map(({ progress }) => progress), told.map((_, index) => index + 1));
});

Deno.test("silence is broken after a second and then every four, with the last word", async () => {
  const { clock, told, reporter } = start();
  using _ = reporter;
  await clock.sleep(10_000);
  assert.deepEqual(told.map(({ at, message }) => [at, message]), [
    [1_000, "working"],
    [5_000, "working"],
    [9_000, "working"],
  ]);
});

Deno.test("nothing is told after the answer", async () => {
  const { clock, told, reporter } = start();
  reporter.report({ message: "first" });
  reporter.report({ message: "held back" });
  reporter[Symbol.dispose]();
  reporter.report({ message: "late" });
  await clock.sleep(20_000);
  assert.deepEqual(told.map(({ message }) => message), ["first"]);
});

Deno.test("nothing is told after the cancellation", async () => {
  const { clock, told, reporter, cancel } = start();
  using _ = reporter;
  cancel.abort();
  reporter.report({ message: "late" });
  await clock.sleep(20_000);
  assert.deepEqual(told, []);
});

Deno.test("a host that takes no notification does no harm", async () => {
  const clock = new VirtualClock();
  using reporter = new ProgressReporter(
    () => Promise.reject(new Error("gone")),
    clock,
    new AbortController().signal,
  );
  reporter.report({ message: "first" });
  await clock.sleep(5_000);
});
