/** What a call's time limit leaves behind: nothing, once another call or process goes on with the work. */

import assert from "node:assert/strict";
import type { Clock } from "../../../src/base/clock.ts";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { Pipeline } from "../../../src/tools/call.ts";
import { takeHandover } from "../../../src/tools/detached.ts";
import { Session } from "../../../src/tools/session.ts";
import { catalogue } from "../../../src/tools/table.ts";
import type { CallAnswer, CallOptions } from "../../../src/tools/tool.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

/** Long beside everything else here that sleeps. */
const LIMIT_S = 3_600;

/** The machine's clock, with the limits that run on it. */
class LimitClock implements Clock {
  readonly limits: number[] = [];

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const isLimit = milliseconds >= LIMIT_S * 1000;
    if (isLimit) this.limits.push(milliseconds);
    try {
      await systemClock.sleep(milliseconds, signal);
    } finally {
      if (isLimit) this.limits.splice(this.limits.indexOf(milliseconds), 1);
    }
  }
}

interface Scene {
  driver: MemoryDriver;
  clock: LimitClock;
  signal: AbortSignal;
  call(args: Record<string, unknown>, options: CallOptions): Promise<CallAnswer>;
}

/** Calls `guest_exec` in one running VM, `web`; other processes take every call over that is handed to them. */
async function inside(work: (scene: Scene) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (root) => {
    const driver = new MemoryDriver();
    const clock = new LimitClock();
    const host = { ...openDenoHost(), clock };
    const state = new StateFolder(`${root}/state`);
    const elsewhere = Promise.withResolvers<void>();
    await using session = new Session({
      host,
      config: DEFAULT_CONFIG,
      state,
      door: "cli",
      catalogue,
      openDriver: () => Promise.resolve(driver),
      async startFollower(_, op) {
        await takeHandover(host, state, op);
        return { ended: elsewhere.promise };
      },
    });
    const { signal } = new AbortController();
    const pipeline = new Pipeline(session);
    await driver.vms.start(await driver.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 }));
    await work({
      driver,
      clock,
      signal,
      call: (args, options) =>
        pipeline.call(
          { tool: "guest_exec", args: { vm: "web", argv: ["sleep", "9"], ...args }, ...options },
          { signal, progress: () => {} },
        ),
    });
  });
}

/** A limit that has been given up wakes its sleeper a turn later. */
function aTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

Deno.test("a call that another process goes on with leaves no limit running here", () =>
  inside(async ({ clock, call }) => {
    const answer = await call({ detach: true }, { timeout_s: LIMIT_S });
    assert.equal(answer.kind, "running");
    await aTurn();
    assert.deepEqual(clock.limits, []);
  }));

Deno.test("a call that finds its like at work leaves no limit running", () =>
  inside(async ({ driver, clock, call }) => {
    const list = driver.vms.list;
    const seen = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    driver.vms.list = async () => {
      driver.vms.list = list;
      seen.resolve();
      await goOn.promise;
      return await list();
    };
    const late = call({}, { key: "one", timeout_s: LIMIT_S });
    await seen.promise;
    const first = await call({}, { key: "one", timeout_s: 2 * LIMIT_S, wait_s: 0 });
    goOn.resolve();
    const second = await late;
    assert.ok(first.kind === "running" && second.kind === "running");
    assert.equal(second.op, first.op);
    await aTurn();
    assert.deepEqual(clock.limits, [2 * LIMIT_S * 1000], "that of the work itself");
  }));
