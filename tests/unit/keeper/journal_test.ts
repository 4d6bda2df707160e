import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { KeeperJournal } from "../../../src/keeper/journal.ts";
import type { NewVmEvent } from "../../../src/state/events.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStore, openStoreReadOnly } from "../../../src/state/store.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

interface Bench {
  journal: KeeperJournal;
  warnings: string[];
  /** While it is set, the store cannot be opened. */
  refuse: (isRefused: boolean) => void;
  written: () => Promise<string[]>;
}

async function withJournal(work: (bench: Bench) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const state = new StateFolder(folder);
    let isRefused = false;
    const warnings: string[] = [];
    const door = {
      open: () =>
        isRefused ? Promise.reject(new HvError("hv.io", "The disk is full")) : openStore(host, state),
      openReadOnly: () => openStoreReadOnly(host, state),
    };
    await work({
      journal: new KeeperJournal(door, (text) => warnings.push(text)),
      warnings,
      refuse: (value) => isRefused = value,
      async written() {
        using store = await openStoreReadOnly(host, state);
        return (await store?.events.list({ limit: 5_000 }) ?? []).map(({ vm, event }) => `${vm} ${event}`);
      },
    });
  });
}

function eventOf(vm: string, event: NewVmEvent["event"]): NewVmEvent {
  return { at: "2026-11-29T12:00:00.000Z", vm, event, details: {} };
}

Deno.test("events are written in the order in which they came, those that come meanwhile too", () =>
  withJournal(async ({ journal, written }) => {
    journal.add(eventOf("a", "started"));
    journal.add(eventOf("b", "started"));
    const flushed = journal.flush();
    journal.add(eventOf("a", "died"));
    await flushed;
    await journal.flush();
    assert.deepEqual(await written(), ["a started", "b started", "a died"]);
    assert.equal(journal.waiting, 0);
  }));

Deno.test("on a full disk events wait, are known all the same, and are written when there is space", () =>
  withJournal(async ({ journal, warnings, refuse, written }) => {
    journal.add(eventOf("a", "started"));
    await journal.flush();
    refuse(true);
    journal.add(eventOf("a", "paused"));
    await journal.flush();
    assert.match(warnings[0] ?? "", /history could not be written: The disk is full/);
    assert.equal((await journal.newest("a"))?.event, "paused");
    assert.equal((await journal.newest("a", "started"))?.event, "started");
    assert.equal(await journal.newest("b"), undefined);
    refuse(false);
    await journal.flush();
    assert.deepEqual(await written(), ["a started", "a paused"]);
  }));

Deno.test("what waits is bounded: the oldest events go and that is told", () =>
  withJournal(async ({ journal, warnings, refuse, written }) => {
    refuse(true);
    for (let count = 0; count < 1_002; count++) journal.add(eventOf(`vm${count}`, "started"));
    await journal.flush();
    assert.equal(journal.waiting, 1_000);
    assert.ok(warnings.some((text) => text.includes("is lost")));
    refuse(false);
    await journal.flush();
    assert.deepEqual((await written()).slice(0, 1), ["vm2 started"]);
  }));
