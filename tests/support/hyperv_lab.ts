/** The real pipeline on a simulated Hyper-V host, for tests of what goes wrong there. */

import assert from "node:assert/strict";
import type { Clock } from "../../src/base/clock.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { Lab } from "../contract/lab.ts";
import { HyperVWorld, NO_SIMULATION } from "./hyperv_world.ts";

export interface HyperVLab {
  world: HyperVWorld;
  lab: Lab;
  /** A second program on the same host, with a sidecar of its own; its limits run on the given clock. */
  another(clock?: Clock): Promise<Lab>;
}

/** One host and one sidecar for all tests that ask for nothing special: starting PowerShell costs more than most of them. */
let shared: { world: HyperVWorld; driver?: Driver } | undefined;

/**
 * One test on a simulated host without VMs and, at first, without faults. With settings it has a host of its own, and the limits
 * of its calls run on the given clock. Skipped, with the reason in its name, where there is no PowerShell.
 */
export function faultTest(
  promise: string,
  work: (lab: HyperVLab) => Promise<void>,
  settings?: { host?: object; faults?: object; clock?: Clock },
): void {
  register(promise, settings !== undefined, async () => {
    if (settings === undefined) {
      shared ??= { world: await HyperVWorld.open() };
      return await inside(shared, work);
    }
    await using world = await HyperVWorld.open(settings);
    await inside({ world }, work, { clock: settings.clock });
    await refuseLeftProcesses(world);
  });
}

/** The last test of a file: the shared sidecar goes with its program. */
export function endSharedHost(): void {
  register("nothing is left of the shared sidecar", false, async () => {
    if (shared === undefined) return;
    const { world, driver } = shared;
    shared = undefined;
    await driver?.close();
    await refuseLeftProcesses(world);
    await world[Symbol.asyncDispose]();
  });
}

/** Nothing that has worked on a host outlives its test. */
async function refuseLeftProcesses(world: HyperVWorld): Promise<void> {
  assert.deepEqual(await world.livingSidecars(), []);
}

function register(promise: string, isAlone: boolean, fn: () => Promise<void>): void {
  const skipped = NO_SIMULATION === undefined ? "" : ` (skipped: ${NO_SIMULATION})`;
  Deno.test({
    name: `hyperv: ${promise}${skipped}`,
    ignore: NO_SIMULATION !== undefined,
    sanitizeOps: isAlone,
    sanitizeResources: isAlone,
    fn,
  });
}

async function inside(
  host: { world: HyperVWorld; driver?: Driver },
  work: (lab: HyperVLab) => Promise<void>,
  alone?: { clock: Clock | undefined },
): Promise<void> {
  const { world } = host;
  const labs: Lab[] = [];
  const open = async (own: boolean, clock?: Clock): Promise<Lab> => {
    const lab = await Lab.open({
      clock,
      async openDriver(_, options) {
        if (own) return await openDriver("hyperv", { ...options, host: world.host });
        // One driver for all, so its state must outlive each test's own.
        const state = new StateFolder(`${world.folder}/state`);
        host.driver ??= await openDriver("hyperv", { ...options, host: world.host, state });
        return { ...host.driver, close: () => Promise.resolve() };
      },
      image: "none",
      source: { disk_size_mb: 64 },
    });
    labs.unshift(lab);
    return lab;
  };
  try {
    const lab = await open(alone !== undefined, alone?.clock);
    await work({ world, lab, another: (clock) => open(true, clock) });
  } finally {
    await world.setFaults({});
    for (const lab of labs) await lab[Symbol.asyncDispose]();
  }
}
