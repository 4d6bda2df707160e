import assert from "node:assert/strict";
import fc from "fast-check";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import type { PlanUse, SavedPlan } from "../../../src/state/plans.ts";
import { openStore, type Store } from "../../../src/state/store.ts";
import { failureOf } from "../../support/failures.ts";
import { HandClock } from "../../support/hand_clock.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const LIFETIME_MS = 300_000;

function planAt(clock: HandClock, plan_id = "plan-1"): SavedPlan {
  return {
    plan_id,
    digest: "d".repeat(64),
    subject: { tool: "vm_delete", args: { vm: 'it\'s "web"' }, target: "vm-1", fingerprint: [1, null] },
    expires_at: new Date(clock.now() + LIFETIME_MS).toISOString(),
  };
}

function test(name: string, work: (store: Store, clock: HandClock, folder: string) => Promise<void>): void {
  Deno.test(name, () =>
    withTemporaryFolder(async (folder) => {
      const clock = new HandClock();
      using store = await openStore({ ...openDenoHost(), clock }, new StateFolder(folder));
      await work(store, clock, folder);
    }));
}

test("a token is valid once", async ({ plans }, clock) => {
  const plan = planAt(clock);
  await plans.save(plan);
  assert.deepEqual(await plans.get("plan-1"), plan);
  assert.deepEqual(await plans.consume("plan-1"), { status: "valid", plan });
  assert.deepEqual(await plans.consume("plan-1"), { status: "used", plan });
  assert.deepEqual(await plans.get("plan-1"), plan);
});

test("an unknown token is missing", async ({ plans }) => {
  assert.deepEqual(await plans.consume("plan-x"), { status: "missing" });
  assert.equal(await plans.get("plan-x"), undefined);
});

test("a token is valid until just before its end", async ({ plans }, clock) => {
  await plans.save(planAt(clock, "plan-1"));
  await plans.save(planAt(clock, "plan-2"));
  clock.advance(LIFETIME_MS - 1);
  assert.equal((await plans.consume("plan-1")).status, "valid");
  clock.advance(1);
  assert.equal((await plans.consume("plan-2")).status, "expired");
});

test("an expired token stays useless", async ({ plans }, clock) => {
  await plans.save(planAt(clock));
  clock.advance(LIFETIME_MS);
  assert.equal((await plans.consume("plan-1")).status, "expired");
  clock.wall -= LIFETIME_MS / 2;
  assert.equal((await plans.consume("plan-1")).status, "used");
});

test(
  "setting the clock back does not lengthen a token's life in its own process",
  async ({ plans }, clock) => {
    await plans.save(planAt(clock));
    clock.steady += LIFETIME_MS;
    clock.wall += 1000;
    assert.equal((await plans.consume("plan-1")).status, "expired");
  },
);

test("a clock that stands before the token's making makes it invalid", async ({ plans }, clock) => {
  await plans.save(planAt(clock));
  clock.wall -= 60_000;
  assert.equal((await plans.consume("plan-1")).status, "clock_moved");
});

test("another process goes by the wall clock alone", async ({ plans }, clock, folder) => {
  await plans.save(planAt(clock));
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(new StateFolder(folder).database);
  database.exec("UPDATE plans SET process = 'another'");
  clock.steady += 10 * LIFETIME_MS;
  assert.equal((await plans.consume("plan-1")).status, "valid");
});

test("old tokens are forgotten a day after their time", async ({ plans }, clock) => {
  await plans.save(planAt(clock, "plan-1"));
  clock.advance(24 * 3600 * 1000);
  await plans.save(planAt(clock, "plan-2"));
  assert.equal((await plans.consume("plan-1")).status, "expired");
  clock.advance(LIFETIME_MS + 1);
  await plans.save(planAt(clock, "plan-3"));
  assert.equal((await plans.consume("plan-1")).status, "missing");
});

test("a time that is none is our own bug", async ({ plans }, clock) => {
  await failureOf("hv.internal", () => plans.save({ ...planAt(clock), expires_at: "soon" }));
});

test(
  "whatever happens in whatever order, a token is valid at most once and never after its end",
  async (store, clock) => {
    let next = 0;
    const step = fc.oneof(
      fc.record({ kind: fc.constant("wait" as const), by: fc.integer({ min: -20_000, max: 200_000 }) }),
      fc.record({ kind: fc.constant("use" as const), by: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const id = `plan-p${next++}`;
        await store.plans.save(planAt(clock, id));
        let elapsed = 0;
        const seen: PlanUse["status"][] = [];
        for (const { kind, by } of steps) {
          if (kind === "wait") {
            clock.wall += by;
            clock.steady += Math.max(0, by);
            elapsed += Math.max(0, by);
          } else {
            const { status } = await store.plans.consume(id);
            seen.push(status);
            if (elapsed >= LIFETIME_MS) assert.notEqual(status, "valid");
          }
        }
        assert.ok(seen.filter((status) => status === "valid").length <= 1);
        assert.ok(seen.slice(1).every((status) => status === "used"));
      }),
      { numRuns: 40 },
    );
  },
);
