import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import type { BackgroundNeeds, BackgroundWork, Journal } from "../../../src/drivers/background_abilities.ts";
import type { CallScope } from "../../../src/drivers/call_scope.ts";
import type { Driver } from "../../../src/drivers/driver.ts";
import { type KeeperOptions, runKeeper } from "../../../src/keeper/run.ts";
import { readKeeperWish, seeKeeper, wantKeeper } from "../../../src/state/keeper_mark.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStoreReadOnly } from "../../../src/state/store.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const NOTHING: BackgroundNeeds = { machines: 0, leases: 0, pools: 0 };

/** Background work of which the test says what each look finds; the last one counts for all that follow. */
class ScriptedWork implements BackgroundWork {
  looks = 0;
  closed = 0;
  /** What is there when the lock has been given back. */
  needed: boolean[] = [];
  onLook: (look: number, scope: CallScope) => void | Promise<void> = () => {};
  journal: Journal | undefined;
  readonly #found: BackgroundNeeds[];

  constructor(...found: BackgroundNeeds[]) {
    this.#found = found;
  }

  async look(scope: CallScope): Promise<BackgroundNeeds> {
    await this.onLook(this.looks++, scope);
    return (this.#found.length > 1 ? this.#found.shift() : this.#found[0]) ?? NOTHING;
  }

  isNeeded(): Promise<boolean> {
    return Promise.resolve(this.needed.shift() ?? false);
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}

interface Bench {
  host: ScriptedHost;
  state: StateFolder;
  options: KeeperOptions;
  log: () => string;
}

async function withKeeper(
  work: ScriptedWork | undefined,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  await using host = await ScriptedHost.open();
  const state = new StateFolder(`${host.root}/state`);
  const openDriver = (): Promise<Driver> => {
    const driver: Driver = new MemoryDriver();
    if (work === undefined) return Promise.resolve(driver);
    const opened: Driver = Object.assign(driver, {
      background: (journal: Journal) => {
        work.journal = journal;
        return work;
      },
    });
    return Promise.resolve(opened);
  };
  await wantKeeper(host, state);
  await test({
    host,
    state,
    options: { host, state, config: DEFAULT_CONFIG, openDriver },
    log: () => Deno.readTextFileSync(state.keeperLog),
  });
}

Deno.test("a keeper that nobody needs ends by itself after a while and leaves nothing but its log", async () => {
  const work = new ScriptedWork({ ...NOTHING, machines: 1 }, NOTHING);
  await withKeeper(work, async ({ host, state, options, log }) => {
    assert.equal(await runKeeper(options), 0);
    assert.ok(work.looks >= 2 && work.closed === 1);
    assert.ok(host.clock.passed >= 15_000 + 2_000, "one machine for a full look, then nothing for a while");
    assert.equal(await readKeeperWish(host, state), undefined);
    assert.equal((await seeKeeper(host, state)).alive, false);
    assert.match(log(), /begins as process 4242[^]*ends: no machine runs/);
  });
});

for (const kind of ["machines", "leases", "pools"] as const) {
  Deno.test(`a keeper stays for ${kind}`, async () => {
    const work = new ScriptedWork({ ...NOTHING, [kind]: 1 });
    await withKeeper(work, async ({ host, state, options }) => {
      const ending = new AbortController();
      work.onLook = (look) => look === 4 ? ending.abort() : undefined;
      assert.equal(await runKeeper({ ...options, signal: ending.signal }), 0);
      assert.equal(work.closed, 1);
      assert.notEqual(await readKeeperWish(host, state), undefined, "it was ended and is wanted still");
    });
  });
}

Deno.test("a second keeper ends at once, and does not touch what the first one keeps", async () => {
  const work = new ScriptedWork({ ...NOTHING, machines: 1 });
  await withKeeper(work, async ({ options }) => {
    const ending = new AbortController();
    let second: number | undefined;
    work.onLook = async (look) => {
      if (look !== 0) return;
      second = await runKeeper(options);
      ending.abort();
    };
    await runKeeper({ ...options, signal: ending.signal });
    assert.equal(second, 0);
    assert.equal(work.looks, 1);
  });
});

Deno.test("a machine that came up while the keeper gave its lock back is kept all the same", async () => {
  const work = new ScriptedWork(NOTHING);
  work.needed = [true, false];
  await withKeeper(work, async ({ host, state, options, log }) => {
    assert.equal(await runKeeper(options), 0);
    assert.equal(log().match(/begins/g)?.length, 2);
    assert.equal(await readKeeperWish(host, state), undefined);
  });
});

Deno.test("a driver that needs nothing done gets no keeper, and nobody asks again", () =>
  withKeeper(undefined, async ({ host, state, options }) => {
    assert.equal(await runKeeper(options), 0);
    assert.equal(await readKeeperWish(host, state), undefined);
  }));

Deno.test("a keeper looks when something is due, and when a caller has left a note", async () => {
  const work = new ScriptedWork({ ...NOTHING, leases: 1 });
  await withKeeper(work, async ({ host, state, options }) => {
    const times: number[] = [];
    const ending = new AbortController();
    work.look = async () => {
      times.push(host.clock.passed);
      if (times.length === 3) ending.abort();
      if (times.length === 1) return { ...NOTHING, leases: 1, due_at: host.clock.now() + 700 };
      await wantKeeper(host, state);
      return { ...NOTHING, leases: 1 };
    };
    await runKeeper({ ...options, signal: ending.signal });
    const [first = 0, second = 0, third = 0] = times;
    assert.ok(second - first >= 700 && second - first < 2_000, "the due time");
    assert.ok(third - second <= 2_000, "the note, not the full look after 15 s");
  });
});

Deno.test("what the work tells is in the log, and its events are in the history", async () => {
  const work = new ScriptedWork({ ...NOTHING, machines: 1 }, NOTHING);
  await withKeeper(work, async ({ host, state, options, log }) => {
    work.onLook = (look, scope) => {
      if (look > 0) return;
      scope.warn?.("something is odd");
      work.journal?.add({ at: "2026-11-29T12:00:00.000Z", vm: "vm-x", event: "died", details: {} });
    };
    await runKeeper(options);
    assert.match(log(), /something is odd/);
    using store = await openStoreReadOnly(host, state);
    assert.deepEqual((await store?.events.list({ limit: 9 }))?.map(({ event }) => event), ["died"]);
  });
});

/** Windows removes no folder with an open file in it. */
const keepsFolders = Deno.build.os === "windows";

Deno.test(
  "in a state folder that has gone the keeper ends and makes nothing anew",
  { ignore: keepsFolders },
  async () => {
    const work = new ScriptedWork({ ...NOTHING, machines: 1 }, NOTHING);
    await withKeeper(work, async ({ state, options }) => {
      work.onLook = async (look) => {
        if (look !== 0) return;
        await Deno.remove(state.root, { recursive: true });
        work.journal?.add({ at: "2026-11-29T12:00:00.000Z", vm: "vm-x", event: "died", details: {} });
      };
      assert.equal(await runKeeper(options), 0);
      await assert.rejects(() => Deno.stat(state.root), Deno.errors.NotFound);
      assert.equal(await runKeeper(options), 0);
    });
  },
);
