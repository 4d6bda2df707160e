/** Copies that are killed between any two steps: the next call finds nothing half made, and the VM as it was. */

import assert from "node:assert/strict";
import type { Driver } from "../../src/drivers/driver.ts";
import { askMonitor } from "../../src/drivers/qemu/monitor/monitors.ts";
import { actUntilKilled } from "../support/act_until_killed.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

interface Scene {
  lab: QemuLab;
  id: string;
  /** Where exports go, one name for each round. */
  outside: string;
  /** A whole export, there from the start. */
  exported: string;
}

interface Deed {
  name: string;
  running: boolean;
  act: (driver: Driver, scene: Scene, round: number) => Promise<unknown> | undefined;
}

const clone: Deed["act"] = (driver, { id, lab: { scope } }, round) =>
  driver.copies?.clone(id, `copy ${round}`, scope);
const write: Deed["act"] = (driver, { id, outside, lab: { scope } }, round) =>
  driver.copies?.export(id, `${outside}/${round}`, scope);

const DEEDS: readonly Deed[] = [
  { name: "cloning at rest", running: false, act: clone },
  { name: "cloning a running VM", running: true, act: clone },
  { name: "exporting at rest", running: false, act: write },
  { name: "exporting a running VM", running: true, act: write },
  {
    name: "importing",
    running: false,
    act: (driver, { exported, lab: { scope } }, round) =>
      driver.copies?.import(exported, `copy ${round}`, scope),
  },
];

for (const deed of DEEDS) {
  qemuTest(`killed between any two steps of ${deed.name}, nothing is half made`, async (lab) => {
    const scene = await setUp(lab, deed.running);
    for (let life = 0;; life++) {
      const { steps, wasKilled } = await actUntilKilled(
        scene.lab,
        life,
        async (mortal) => await deed.act(mortal, scene, life),
      );
      await assertWhole(scene, deed, `after ${life} steps of ${deed.name}: ${steps.join(", ")}`);
      if (wasKilled) continue;
      assert.ok(life > 3, `${deed.name} has ${life} steps`);
      break;
    }
    const { driver, scope } = lab;
    await driver.vms.remove(scene.id, scope);
    assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
  });
}

async function setUp(lab: QemuLab, running: boolean): Promise<Scene> {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const id = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
  const exported = `${state.root}/exported`;
  await driver.copies?.export(id, exported, scope);
  if (running) await driver.vms.start(id, scope);
  const outside = `${state.root}/outside`;
  await Deno.mkdir(outside);
  return { lab, id, outside, exported };
}

/** What the next change sweeps away is gone, what is there is whole, and the original is as it was. */
async function assertWhole({ lab, id, outside }: Scene, { running }: Deed, when: string): Promise<void> {
  const { driver, scope, state, host } = lab;
  await driver.sandboxes?.sweep(scope);
  const { vms, warnings } = await driver.vms.list(scope.signal);
  assert.deepEqual(warnings, [], when);
  for (const vm of vms) {
    if (vm.id === id) assert.equal(vm.state, running ? "running" : "off", when);
    else await driver.vms.remove(vm.id, scope);
  }
  assert.deepEqual([...Deno.readDirSync(state.vms)].map(({ name }) => name), [id], when);
  assert.deepEqual(await driver.vms.orphans(scope.signal), [], when);
  for (const { name } of Deno.readDirSync(outside)) {
    if (!name.startsWith(".")) assert.ok(await isWhole(lab, `${outside}/${name}`), `${name} ${when}`);
  }
  // The next export of the VM tidies up what an earlier one left outside, and in the machine.
  await driver.copies?.export(id, `${outside}/next`, scope);
  await Deno.remove(`${outside}/next`, { recursive: true });
  assert.deepEqual([...Deno.readDirSync(outside)].filter(({ name }) => name.startsWith(".")), [], when);
  if (!running) return;
  const left = await askMonitor(host, id, lab.runtime(id), async (session) => ({
    jobs: await session.command("query-jobs"),
    nodes: JSON.stringify(await session.command("query-named-block-nodes", { flat: true })),
  }));
  assert.deepEqual(left?.jobs, [], when);
  assert.doesNotMatch(left?.nodes ?? "nothing", /hvlab-copy|nothing/, when);
}

async function isWhole({ driver, scope }: QemuLab, folder: string): Promise<boolean> {
  const id = await driver.copies?.import(folder, "whole", scope);
  if (id === undefined) return false;
  await driver.vms.remove(id, scope);
  return true;
}
