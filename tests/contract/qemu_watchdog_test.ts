/** A watchdog of a real machine, from the guest that stops feeding it to what its history and its state say. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { ExecResult } from "../../src/contract/guest.ts";
import { askMonitor } from "../../src/drivers/qemu/monitor/monitors.ts";
import { abilityOf } from "../../src/flows/abilities.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { wantKeeper } from "../../src/state/keeper_mark.ts";
import { qemuTest } from "../support/qemu_lab.ts";
import { eventsOf, lived, startKeeper } from "../support/test_keeper.ts";

/** Finds the card. The tiny guest has no driver for it, so scripts write the registers that Intel documents for the 6300ESB. */
const FIND_CARD = "card=$(dirname $(grep -l 0x25ab /sys/bus/pci/devices/*/device))";

/** Sets the watchdog to two stages of half a second each, and lets it stand still. */
const SET_WATCHDOG = `
  set -e
  ${FIND_CARD}
  base=$(cut -d ' ' -f 1 $card/resource | head -n 1)
  at() { printf '0x%x' $((base + $1)); }
  unlock() { devmem $(at 12) 16 0x80; devmem $(at 12) 16 0x86; }
  unlock; devmem $(at 0) 32 500
  unlock; devmem $(at 4) 32 500
  [ -w $card/config ]`;

/** Lets it run, and never feeds it. */
const START_WATCHDOG = `${FIND_CARD}; printf '\\2' | dd of=$card/config bs=1 seek=104 conv=notrunc`;

qemuTest("a watchdog that is not fed does what it was made for, and the VM says so", async (lab) => {
  const { driver, scope, host } = lab;
  await using _keeper = await startKeeper(lab);
  const id = await driver.vms.create(lab.vm({ watchdog: "pause" }), scope);
  const listed = async (): Promise<unknown[]> => {
    const devices = await abilityOf(driver, "devices").list(id, scope.signal);
    const watchdogs = devices.filter(({ kind }) => kind === "watchdog");
    return watchdogs.map(({ id: name, action, now, next_start }) => [name, action, now, next_start]);
  };
  assert.deepEqual(await listed(), [["watchdog-0", "pause", false, true]]);
  await driver.vms.start(id, scope);
  await wantKeeper(host, lab.state);
  assert.deepEqual(await listed(), [["watchdog-0", "pause", true, true]]);
  const parts = { ...scope, clock: host.clock };
  const vm = await waitUntil(driver, id, "heartbeat", parts);
  const ending = new AbortController();
  const either = { ...parts, signal: AbortSignal.any([scope.signal, ending.signal]) };
  const shell = (script: string): Promise<ExecResult> =>
    runInGuest(openChannel(driver, vm), { argv: ["sh", "-c", script] }, either);
  /** Answers once the guest is at it: a watchdog can be quicker than the word that it was started. */
  const runOut = async (): Promise<{ told: Promise<unknown> }> => {
    const { exit_code, stderr } = await shell(SET_WATCHDOG);
    assert.equal(exit_code, 0, stderr);
    return { told: Promise.allSettled([shell(START_WATCHDOG)]) };
  };
  const first = await runOut();
  assert.deepEqual(await lived(lab, id, 2), ["started", "watchdog"]);
  const { state, state_reason, watchdog } = await driver.vms.get(id, scope.signal);
  assert.deepEqual([state, state_reason, watchdog], ["paused", "The guest's watchdog has run out", "pause"]);
  await driver.pause?.resume(id, scope);
  await lived(lab, id, 3);
  await first.told;

  // The words of each start are the plan's, which has tests of its own; here it is what their effect is told as.
  await askMonitor(host, id, lab.runtime(id), async (session) => {
    await session.command("watchdog-set-action", { action: "poweroff" });
    return {};
  }, scope);
  const second = await runOut();
  assert.deepEqual(await lived(lab, id, 5), [
    ...["started", "watchdog", "resumed", "watchdog", "stopped watchdog"],
  ]);
  assert.deepEqual((await eventsOf(lab, id)).flatMap(({ details: { action } }) => action ?? []), [
    ...["pause", "off"],
  ]);
  // QEMU tells its end before its process is gone.
  await waitUntil(driver, id, "off", parts);
  ending.abort(new HvError("hv.cancelled", "Nobody is left who could tell"));
  await second.told;

  const copies = abilityOf(driver, "copies");
  const { id: clone } = await copies.clone(id, "clone", scope);
  await copies.export(id, `${lab.state.root}/exported`, scope);
  const imported = await copies.import(`${lab.state.root}/exported`, "imported", scope);
  const others = await Promise.all([clone, imported].map((other) => driver.vms.get(other, scope.signal)));
  assert.deepEqual(others.map((other) => other.watchdog), ["pause", "pause"]);
});
