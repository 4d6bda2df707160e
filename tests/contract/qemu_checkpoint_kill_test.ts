/** Calls of checkpoints and saves that are killed between any two steps: the VM goes on, and what is half made goes. */

import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { disksOf, memoryTags } from "../../src/drivers/qemu/checkpoints/files.ts";
import { readSnapshots } from "../../src/drivers/qemu/checkpoints/snapshot_table.ts";
import { actUntilKilled } from "../support/act_until_killed.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

/** More steps than any of these calls has. */
const FOREVER = 1_000;

interface Scene {
  lab: QemuLab;
  driver: Driver;
  scope: CallScope;
  id: string;
  /** A whole checkpoint with memory, there from the start. */
  kept: string;
}

interface Deed {
  name: string;
  /** Brings the VM to where the call begins. */
  prepare: (scene: Scene) => Promise<void>;
  act: (driver: Driver, scene: Scene) => Promise<unknown>;
}

const DEEDS: readonly Deed[] = [
  {
    name: "creating a checkpoint",
    prepare: ({ driver, id, scope }) => driver.vms.start(id, scope),
    act: (driver, { id, scope }) =>
      driver.checkpoints?.create(id, { name: crypto.randomUUID(), memory_state: true }, scope) ?? absent(),
  },
  {
    name: "restoring in place",
    prepare: ({ driver, id, scope }) => driver.vms.start(id, scope),
    act: (driver, { id, kept, scope }) => driver.checkpoints?.restore(id, kept, scope) ?? absent(),
  },
  {
    name: "restoring in a new process",
    prepare: ({ driver, id, scope }) => driver.vms.stop(id, "off", scope),
    act: (driver, { id, kept, scope }) => driver.checkpoints?.restore(id, kept, scope) ?? absent(),
  },
  {
    name: "saving",
    prepare: ({ driver, id, scope }) => driver.vms.start(id, scope),
    act: (driver, { id, scope }) => driver.vms.stop(id, "save", scope),
  },
  {
    name: "starting from what was saved",
    prepare: async ({ driver, id, scope }) => {
      await driver.vms.start(id, scope);
      await driver.vms.stop(id, "save", scope);
    },
    act: (driver, { id, scope }) => driver.vms.start(id, scope),
  },
  {
    name: "deleting a checkpoint",
    prepare: async ({ driver, id, scope }) => {
      await driver.vms.start(id, scope);
      await driver.checkpoints?.create(
        id,
        { name: `doomed ${crypto.randomUUID()}`, memory_state: true },
        scope,
      );
    },
    act: async (driver, { id, scope }) => {
      const checkpoints = driver.checkpoints ?? absent();
      const { checkpoints: all } = await checkpoints.list(id, scope.signal);
      const doomed = all.findLast(({ name }) => name.startsWith("doomed"));
      if (doomed !== undefined) await checkpoints.remove(id, doomed.id, scope);
    },
  },
];

function absent(): never {
  throw new Error("the driver has no checkpoints");
}

for (const deed of DEEDS) {
  qemuTest(`killed between any two steps of ${deed.name}, a VM is whole`, async (lab) => {
    const { driver, scope, state } = lab;
    await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
    await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
    const id = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
    await driver.vms.start(id, scope);
    const kept = await driver.checkpoints?.create(id, { name: "kept", memory_state: true }, scope) ??
      absent();
    const scene: Scene = { lab, driver, scope, id, kept };
    for (let life = 0;; life++) {
      await deed.prepare(scene);
      const { steps, wasKilled } = await actUntilKilled(
        scene.lab,
        Math.min(life, FOREVER),
        (mortal) => deed.act(mortal, scene),
      );
      await assertWhole(scene, `after ${life} steps of ${deed.name}: ${steps.join(", ")}`);
      if (!wasKilled) {
        assert.ok(life > 2, `${deed.name} has ${life} steps`);
        break;
      }
    }
    await assertTidy(scene);
    await driver.vms.remove(id, scope);
    assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
  });
}

/** It can be listed, its checkpoint is there, and it can be started. */
async function assertWhole({ lab, driver, scope, id, kept }: Scene, when: string): Promise<void> {
  let [seen] = (await driver.vms.list(scope.signal)).vms;
  // QEMU answers nobody while it writes the memory that the killed call had asked it to save.
  while (seen?.state === "unknown") {
    await lab.host.clock.sleep(50, scope.signal);
    [seen] = (await driver.vms.list(scope.signal)).vms;
  }
  assert.ok(
    ["off", "running", "paused", "saved", "starting"].includes(seen?.state ?? ""),
    `${seen?.state} ${when}`,
  );
  const listing = await driver.checkpoints?.list(id, scope.signal) ?? absent();
  assert.ok(
    listing.checkpoints.some((checkpoint) => checkpoint.id === kept),
    `the checkpoint is lost ${when}`,
  );
  assert.ok(
    listing.warnings.every((warning) => /restore .* did not end/.test(warning)),
    `${listing.warnings} ${when}`,
  );
  await driver.vms.start(id, scope);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running", when);
  const again = await driver.checkpoints?.restore(id, kept, scope).then(() => "running");
  assert.equal(again, "running", when);
}

/** One more change tidies up: only what is recorded remains. */
async function assertTidy({ lab, driver, scope, id }: Scene): Promise<void> {
  const context = { host: lab.host, state: lab.state, config: DEFAULT_CONFIG, findings: lab.findings };
  const checkpoints = driver.checkpoints ?? absent();
  const last = await checkpoints.create(id, { name: "last", memory_state: true }, scope);
  await checkpoints.remove(id, last, scope);
  const { checkpoints: left } = await checkpoints.list(id, scope.signal);
  const recorded = left.map((checkpoint) => checkpoint.id).sort();
  assert.deepEqual((await memoryTags(context, id)).sort(), recorded);
  for (const { path } of await disksOf(context, id)) {
    const tags = (await readSnapshots(lab.host.files, path))?.map(({ tag }) => tag).sort();
    assert.deepEqual(tags, recorded);
  }
}
