import assert from "node:assert/strict";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import {
  becomeKeeper,
  forgetKeeperWish,
  type KeeperFacts,
  readKeeperWish,
  seeKeeper,
  wantKeeper,
} from "../../../src/state/keeper_mark.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { withMandatoryLocks } from "../../support/mandatory_locks.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const FACTS: KeeperFacts = { pid: 4711, since: "2026-11-29T12:00:00.000Z", version: "0.0.0" };

Deno.test("who looks for a keeper makes no file", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(`${folder}/state`);
    assert.deepEqual(await seeKeeper(openDenoHost(), state), { alive: false, wanted: false });
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("one process becomes the keeper, and others see it until it has given the lock back", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const state = new StateFolder(folder);
    await wantKeeper(host, state);
    const lock = await becomeKeeper(host, state, FACTS);
    assert.ok(lock !== undefined);
    assert.equal(await becomeKeeper(host, state, { ...FACTS, pid: 1 }), undefined);
    assert.deepEqual(await seeKeeper(host, state), { alive: true, wanted: true, facts: FACTS });
    lock.release();
    assert.deepEqual(await seeKeeper(host, state), { alive: false, wanted: true, facts: FACTS });
    await forgetKeeperWish(host, state);
    assert.equal((await seeKeeper(host, state)).wanted, false);
  }));

Deno.test("where nobody else may read a locked file, a keeper is seen all the same", () =>
  withTemporaryFolder(async (folder) => {
    const host = withMandatoryLocks(openDenoHost());
    const state = new StateFolder(folder);
    await wantKeeper(host, state);
    using lock = await becomeKeeper(host, state, FACTS);
    assert.ok(lock !== undefined);
    assert.deepEqual(await seeKeeper(host, state), { alive: true, wanted: true, facts: FACTS });
  }));

Deno.test("each wish differs from the one before", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const state = new StateFolder(folder);
    assert.equal(await readKeeperWish(host, state), undefined);
    await wantKeeper(host, state);
    const first = await readKeeperWish(host, state);
    await wantKeeper(host, state);
    assert.notEqual(await readKeeperWish(host, state), first);
  }));

Deno.test("a caller who looks does not keep a keeper from becoming one", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const state = new StateFolder(folder);
    await wantKeeper(host, state);
    const looking = await host.locks.tryTake(state.keeperLock);
    assert.ok(looking !== undefined);
    const becoming = becomeKeeper(host, state, FACTS);
    await new Promise((resolve) => setTimeout(resolve, 30));
    looking.release();
    using lock = await becoming;
    assert.ok(lock !== undefined);
  }));
