/** Changes of networks and drives that are killed between any two steps: what is there is whole, and the next call puts it right. */

import assert from "node:assert/strict";
import type { Driver } from "../../src/drivers/driver.ts";
import { abilityOf } from "../../src/flows/abilities.ts";
import { actUntilKilled } from "../support/act_until_killed.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

interface Scene {
  lab: QemuLab;
  /** A machine that runs and whose guest never boots. */
  id: string;
  disc: string;
}

interface Deed {
  name: string;
  act: (driver: Driver, scene: Scene) => Promise<unknown>;
  /** Throws unless the deed is done. */
  check: (scene: Scene) => Promise<void>;
  /** Brings the machine back to where it was. */
  undo: (scene: Scene) => Promise<unknown>;
}

const WISH = { guest_port: 80, host_address: "127.0.0.1", host_port: "auto" } as const;

const DEEDS: readonly Deed[] = [
  {
    name: "adding a forward",
    act: (driver, { id, lab: { scope } }) => abilityOf(driver, "forwards").add(id, WISH, scope),
    async check({ id, lab: { driver, scope } }) {
      const all = await abilityOf(driver, "forwards").list(id, scope.signal);
      assert.deepEqual(all.map(({ open, lasting }) => [open, lasting]), [[true, true]]);
    },
    undo: ({ id, lab: { driver, scope } }) =>
      abilityOf(driver, "forwards").remove(id, { guest_port: 80 }, scope),
  },
  {
    name: "adding a network card",
    act: (driver, { id, lab: { scope } }) => abilityOf(driver, "nics").add(id, { switch: "default" }, scope),
    async check({ id, lab: { driver, scope } }) {
      const { nics } = await abilityOf(driver, "nics").list(id, scope.signal);
      const last = nics.at(-1);
      assert.deepEqual([last?.now, last?.next_start, last?.switch], [true, true, "default"]);
    },
    async undo({ id, lab: { driver, scope } }) {
      // A guest that never boots lets go of no card.
      await driver.vms.stop(id, "off", scope);
      const nics = abilityOf(driver, "nics");
      for (const { id: nic } of (await nics.list(id, scope.signal)).nics.slice(1)) {
        await nics.remove(id, nic, scope);
      }
      await driver.vms.start(id, scope);
    },
  },
  {
    name: "changing a disc",
    act: (driver, { id, disc, lab: { scope } }) =>
      abilityOf(driver, "devices").setDvd(id, disc, { force: true }, scope),
    async check({ id, disc, lab: { driver, scope } }) {
      const devices = await abilityOf(driver, "devices").list(id, scope.signal);
      const drive = devices.find(({ kind }) => kind === "dvd");
      assert.deepEqual([drive?.holds, drive?.now, drive?.holds_at_next_start], [disc, true, undefined]);
    },
    undo: ({ id, lab: { driver, scope } }) =>
      abilityOf(driver, "devices").setDvd(id, null, { force: true }, scope),
  },
];

for (const deed of DEEDS) {
  qemuTest(`killed between any two steps of ${deed.name}, the next call goes through`, async (lab) => {
    const scene = await setUp(lab);
    for (let life = 0;; life++) {
      const { steps, wasKilled } = await actUntilKilled(scene.lab, life, (mortal) => deed.act(mortal, scene));
      if (wasKilled) await deed.act(lab.driver, scene);
      await deed.check(scene).catch((error) => {
        throw new Error(`after ${life} steps: ${steps.join(", ")}`, { cause: error });
      });
      await deed.undo(scene);
      if (wasKilled) continue;
      assert.ok(life > 1, `${deed.name} has ${life} steps`);
      break;
    }
    await lab.driver.vms.remove(scene.id, lab.scope);
  });
}

async function setUp(lab: QemuLab): Promise<Scene> {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const id = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
  const disc = `${state.root}/disc.iso`;
  await Deno.writeFile(disc, new Uint8Array(64 * 1024));
  await abilityOf(driver, "devices").setDvd(id, null, { force: false }, scope);
  await driver.vms.start(id, scope);
  return { lab, id, disc };
}
