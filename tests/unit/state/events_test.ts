import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { KEPT_EVENTS, type NewVmEvent } from "../../../src/state/events.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStore, openStoreReadOnly } from "../../../src/state/store.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function eventOf(vm: string, event: NewVmEvent["event"] = "started"): NewVmEvent {
  return { at: "2026-11-29T12:00:00.000Z", vm, event, details: { pid: 7, nested: { deep: ["x"] } } };
}

Deno.test("events come back oldest first, of one VM or of all, the newest ones or those after one", () =>
  withTemporaryFolder(async (folder) => {
    using store = await openStore(openDenoHost(), new StateFolder(folder));
    const { events } = store;
    assert.deepEqual(await events.list({ limit: 5 }), []);
    await events.append([
      eventOf("vm-a"),
      eventOf("vm-b"),
      eventOf("vm-a", "paused"),
      eventOf("vm-a", "died"),
    ]);
    const kinds = async (query: Parameters<typeof events.list>[0]): Promise<string[]> =>
      (await events.list(query)).map(({ seq, vm, event }) => `${seq} ${vm} ${event}`);
    assert.deepEqual(await kinds({ limit: 2 }), ["3 vm-a paused", "4 vm-a died"]);
    assert.deepEqual(await kinds({ limit: 2, vm: "vm-a", after: 0 }), ["1 vm-a started", "3 vm-a paused"]);
    assert.deepEqual(await kinds({ limit: 2, after: 1 }), ["2 vm-b started", "3 vm-a paused"]);
    assert.deepEqual(await kinds({ limit: 9, after: 4 }), []);
    assert.deepEqual(await kinds({ limit: 9, vm: "vm-c" }), []);
    const [first] = await events.list({ limit: 1, after: 0 });
    assert.deepEqual(first, { ...eventOf("vm-a"), seq: 1 });
    assert.equal((await events.newest("vm-a"))?.event, "died");
    assert.equal((await events.newest("vm-a", "started"))?.seq, 1);
    assert.equal(await events.newest("vm-b", "died"), undefined);
  }));

Deno.test("the history is bounded, and numbers are never used twice", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(folder);
    using store = await openStore(openDenoHost(), state);
    using database = new DatabaseSync(state.database);
    await store.events.append([eventOf("vm-old"), eventOf("vm-new")]);
    database.exec("UPDATE events SET seq = 499 WHERE vm = 'vm-old'");
    database.exec(`UPDATE events SET seq = ${KEPT_EVENTS + 499} WHERE vm = 'vm-new'`);
    database.exec(`UPDATE sqlite_sequence SET seq = ${KEPT_EVENTS + 499} WHERE name = 'events'`);
    await store.events.append([eventOf("vm-last")]);
    const left = await store.events.list({ limit: 10 });
    assert.deepEqual(left.map(({ vm }) => vm), ["vm-new", "vm-last"]);
    assert.equal(left.at(-1)?.seq, KEPT_EVENTS + 500);
  }));

Deno.test("a database of the version before history is read without one, and gets one with the first change", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const state = new StateFolder(folder);
    (await openStore(host, state)).close();
    {
      using database = new DatabaseSync(state.database);
      database.exec("DROP TABLE events; PRAGMA user_version = 1");
    }
    {
      using history = await openStoreReadOnly(host, state);
      assert.deepEqual(await history?.events.list({ limit: 5 }), []);
      assert.deepEqual(await history?.audit.tail(5), []);
    }
    using store = await openStore(host, state);
    await store.events.append([eventOf("vm-a")]);
    assert.equal((await store.events.list({ limit: 5 })).length, 1);
  }));
