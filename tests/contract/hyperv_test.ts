/** The contract suite on Hyper-V: real PowerShell and a simulated host, which all behaviours share. */

import assert from "node:assert/strict";
import type { Driver } from "../../src/drivers/driver.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { HyperVWorld, NO_SIMULATION, runShell } from "../support/hyperv_world.ts";
import { runContract } from "./behaviour.ts";
import "./behaviours/index.ts";

const ignore = NO_SIMULATION !== undefined;
const name = ignore ? `hyperv (skipped: ${NO_SIMULATION})` : "hyperv";
const worlds: HyperVWorld[] = [];
const drivers: Driver[] = [];

runContract(name, {
  async openDriver(_, options) {
    const world = worlds[0] ?? await HyperVWorld.open();
    if (worlds.length === 0) worlds.push(world);
    const known = drivers[0];
    // One driver for all, so its state must outlive each behaviour's own.
    const state = new StateFolder(`${world.folder}/state`);
    const driver = known ?? await openDriver("hyperv", { ...options, host: world.host, state });
    if (known === undefined) drivers.push(driver);
    // The simulated guest's files are this machine's own and go back with no checkpoint; hyperv_guest_test.ts tries guests.
    const features = new Set([...driver.features].filter((feature) => feature !== "guest"));
    return { ...driver, features, close: () => Promise.resolve() };
  },
  image: "win",
  async prepare(lab) {
    const { images } = await lab.call("image_list");
    if (Array.isArray(images) && images.length > 0) return;
    const [world] = worlds;
    assert.ok(world !== undefined);
    const disk = `${world.folder}/base.vhdx`;
    await runShell(world, `New-VHD '${disk}' -SizeBytes 64MB -Dynamic > $null`);
    await lab.call("image_import", { name: "win", disk });
  },
  source: { disk_size_mb: 1024 },
}, { ignore, shared: true });

Deno.test({
  name: `${name}: nothing is left of the sidecar`,
  ignore,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const [world] = worlds;
    assert.ok(world !== undefined);
    for (const driver of drivers) await driver.close();
    assert.ok((await world.sidecars()).length > 0);
    assert.deepEqual(await world.livingSidecars(), []);
    await world[Symbol.asyncDispose]();
  },
});
