import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { becomeKeeper, readKeeperWish } from "../../../src/state/keeper_mark.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { KeeperCaller, type KeeperTarget } from "../../../src/tools/keeper_caller.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

interface Bench {
  target: KeeperTarget;
  caller: KeeperCaller;
  /** State folders for which a keeper was started. */
  started: string[];
}

async function withCaller(
  work: (bench: Bench) => Promise<void>,
  failure?: HvError,
): Promise<void> {
  await using host = await ScriptedHost.open();
  const target = { host, state: new StateFolder(`${host.root}/state`), config: null, driverName: undefined };
  const started: string[] = [];
  const caller = new KeeperCaller(target, ({ state }) => {
    started.push(state.root);
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  });
  await work({ target, caller, started });
}

const FACTS = { pid: 1, since: "2026-11-29T12:00:00.000Z", version: "0.0.0" };

Deno.test("the first machine starts a keeper, and nobody waits for that", () =>
  withCaller(async ({ target, caller, started }) => {
    caller.wake();
    assert.deepEqual(started, [], "nothing has happened when the call goes on");
    await caller.settled();
    assert.deepEqual(started, [target.state.root]);
    assert.notEqual(await readKeeperWish(target.host, target.state), undefined);
  }));

Deno.test("a keeper that lives is only told to look", () =>
  withCaller(async ({ target, caller, started }) => {
    caller.wake();
    await caller.settled();
    using _lock = await becomeKeeper(target.host, target.state, FACTS);
    const before = await readKeeperWish(target.host, target.state);
    caller.wake();
    await caller.settled();
    assert.equal(started.length, 1);
    assert.notEqual(await readKeeperWish(target.host, target.state), before);
  }));

Deno.test("a change revives a keeper that was killed, and starts none where none was wanted", () =>
  withCaller(async ({ target, caller, started }) => {
    caller.revive();
    await caller.settled();
    assert.deepEqual(started, []);
    await assert.rejects(() => Deno.stat(target.state.root), Deno.errors.NotFound);
    caller.wake();
    caller.revive();
    await caller.settled();
    assert.equal(started.length, 2, "neither start has led to a living keeper");
  }));

Deno.test("a keeper that cannot be started fails no call", () =>
  withCaller(async ({ caller }) => {
    caller.wake();
    await caller.settled();
    assert.equal(caller.failure, "Cannot find setpriv");
  }, new HvError("hv.unavailable", "Cannot find setpriv")));
