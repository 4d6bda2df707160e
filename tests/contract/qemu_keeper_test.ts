/** What the keeper sees of real machines, and what it does by itself; it runs inside the test's own process. */

import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { VmEvent } from "../../src/contract/vm.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import type { EventQuery } from "../../src/state/events.ts";
import { readKeeperWish, seeKeeper, wantKeeper } from "../../src/state/keeper_mark.ts";
import { openStoreReadOnly } from "../../src/state/store.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { eventsOf, lived, startKeeper } from "../support/test_keeper.ts";
import { readPng } from "../support/read_png.ts";

async function startVm(lab: QemuLab, id: string): Promise<void> {
  await lab.driver.vms.start(id, lab.scope);
  await wantKeeper(lab.host, lab.state);
}

async function killQemu({ driver, host, scope }: QemuLab, id: string): Promise<void> {
  const { pid } = await driver.vms.get(id, scope.signal);
  assert.ok(pid !== undefined);
  await host.processes.kill(pid, "KILL");
}

/**
 * Waits for as many events and answers them in words, without presses of the button: a guest whose agent is slow to
 * answer a shutdown has it pressed as well.
 */
async function livedWithoutButton(lab: QemuLab, id: string, count: number): Promise<string[]> {
  for (let presses = 0;;) {
    const all = await lived(lab, id, count + presses);
    const others = all.filter((event) => event !== "button");
    if (others.length >= count) return others;
    presses = all.length - others.length;
  }
}

qemuTest("a machine's whole life stands in its history, with the reason of each end", async (lab) => {
  const { driver, scope, host } = lab;
  await using keeper = await startKeeper(lab);
  // A sandbox boots the fast kernel, and lives a VM's life until its lease ends.
  const id = await driver.sandboxes?.create(lab.sandbox(), scope) ?? "";
  await wantKeeper(host, lab.state);
  const awake = (): Promise<unknown> =>
    waitUntil(driver, id, "heartbeat", { signal: scope.signal, clock: host.clock, progress: () => {} });

  await awake();
  await livedWithoutButton(lab, id, 1);
  await driver.pause?.pause(id, scope);
  await driver.pause?.resume(id, scope);
  await driver.vms.stop(id, "shutdown", scope);
  assert.deepEqual(await livedWithoutButton(lab, id, 4), [
    "started",
    "paused",
    "resumed",
    "stopped guest-shutdown",
  ]);

  await startVm(lab, id);
  await livedWithoutButton(lab, id, 5);
  await killQemu(lab, id);
  assert.deepEqual((await livedWithoutButton(lab, id, 6)).slice(4), ["started", "died"]);
  await driver.vms.stop(id, "off", scope);

  await startVm(lab, id);
  await awake();
  await livedWithoutButton(lab, id, 7);
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  const silent = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const crash = { argv: ["sh", "-c", "echo c > /proc/sysrq-trigger"] };
  await assert.rejects(async () => await channel?.exec(crash, silent, scope.signal));
  assert.deepEqual((await livedWithoutButton(lab, id, 8)).slice(6), ["started", "crashed"]);
  const { details: crashed } = (await eventsOf(lab, id)).at(-1) ?? {};
  assert.ok(
    readPng(Deno.readFileSync(String(crashed?.screenshot))).width > 0,
    "the screen of the crash is kept",
  );
  await driver.vms.stop(id, "off", scope);
  assert.deepEqual((await livedWithoutButton(lab, id, 9)).slice(8), ["stopped host-qmp-quit"]);

  const starts = (await eventsOf(lab, id)).filter(({ event }) => event === "started");
  assert.equal(new Set(starts.map(({ details: { pid } }) => pid)).size, 3);
  await driver.vms.remove(id, scope);
  await wantKeeper(host, lab.state);
  assert.equal(await keeper.ended, 0, "nothing runs any more, so it ends by itself");
  assert.equal(await readKeeperWish(host, lab.state), undefined);
});

qemuTest("whoever sees that a guest has crashed finds that in its history as well", async (lab) => {
  const { driver, scope, host, state, findings } = lab;
  await using _keeper = await startKeeper(lab);
  const id = await driver.sandboxes?.create(lab.sandbox(), scope) ?? "";
  await wantKeeper(host, state);
  await waitUntil(driver, id, "heartbeat", { signal: scope.signal, clock: host.clock, progress: () => {} });
  await lived(lab, id, 1);
  const list = async (query: EventQuery): Promise<VmEvent[]> => {
    using store = await openStoreReadOnly(host, state);
    return await store?.events.list(query) ?? [];
  };
  // No time passes for who waits for the keeper, so that the wait ends with what the keeper writes and with nothing else.
  const patient = { ...host, clock: { ...host.clock, monotonic: () => 0 } };
  const other = openQemuDriver({ host: patient, state, config: DEFAULT_CONFIG, findings, events: { list } });
  await driver.nmi?.inject(id, scope);
  await waitUntil(driver, id, "crash", { signal: scope.signal, clock: host.clock, progress: () => {} });
  const history = await other.events?.history(id, { limit: 10 }, scope.signal);
  assert.deepEqual(history?.map(({ event }) => event), ["started", "crashed"]);
  await other.close();
  await driver.vms.remove(id, scope);
});

qemuTest("a sandbox is gone when its lease is over, without any call", async (lab) => {
  const { driver, scope, host } = lab;
  let ahead = 0;
  const clock = { ...host.clock, now: () => host.clock.now() + ahead };
  await using keeper = await startKeeper(lab, { ...host, clock });
  const id = await driver.sandboxes?.create(lab.sandbox({ ttl_s: 600 }), scope) ?? "";
  await wantKeeper(host, lab.state);
  await lived(lab, id, 1);
  ahead = 601_000;
  await wantKeeper(host, lab.state);
  assert.deepEqual(await lived(lab, id, 3), ["started", "stopped host-qmp-quit", "expired"]);
  assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
  assert.equal(await keeper.ended, 0);
});

qemuTest("what happened while no keeper lived is found afterwards and marked late", async (lab) => {
  const { driver, scope, host, state } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  const first = await startKeeper(lab);
  await startVm(lab, id);
  await lived(lab, id, 1);
  first.end();
  assert.equal(await first.ended, 0);
  assert.deepEqual(
    { ...await seeKeeper(host, state), facts: undefined },
    { alive: false, wanted: true, facts: undefined },
    "a keeper that was told to end is wanted still",
  );
  await driver.pause?.pause(id, scope);
  const second = await startKeeper(lab);
  await lived(lab, id, 2);
  second.end();
  await second.ended;
  await killQemu(lab, id);
  await using third = await startKeeper(lab);
  assert.deepEqual(await lived(lab, id, 3), ["started", "paused", "stopped unseen"]);
  assert.deepEqual((await eventsOf(lab, id)).map(({ details: { late } }) => late), [undefined, true, true]);
  assert.equal(await third.ended, 0);
});
