/** Making, starting and deleting a VM, killed between any two steps: it is whole or gone, and what is left can be removed. */

import assert from "node:assert/strict";
import type { Driver } from "../../src/drivers/driver.ts";
import { actUntilKilled } from "../support/act_until_killed.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

interface Deed {
  name: string;
  /** Brings a VM to where the call begins; answers its id. */
  prepare: (lab: QemuLab) => Promise<string | undefined>;
  act: (driver: Driver, lab: QemuLab, id: string) => Promise<unknown>;
}

const SPEC = { image: "blank", memory_mb: 16, network: false };

function make({ driver, scope, vm }: QemuLab): Promise<string> {
  return driver.vms.create(vm(SPEC), scope);
}

async function makeAndStart(lab: QemuLab): Promise<string> {
  const id = await make(lab);
  await lab.driver.vms.start(id, lab.scope);
  return id;
}

const DEEDS: readonly Deed[] = [
  {
    name: "creating a VM",
    prepare: () => Promise.resolve(undefined),
    act: (driver, { scope, vm }) => driver.vms.create(vm(SPEC), scope),
  },
  {
    name: "creating a VM with a full copy",
    prepare: () => Promise.resolve(undefined),
    act: (driver, { scope, vm }) => driver.vms.create(vm({ ...SPEC, full_copy: true }), scope),
  },
  {
    name: "starting a VM",
    prepare: make,
    act: (driver, { scope }, id) => driver.vms.start(id, scope),
  },
  {
    name: "deleting a VM",
    prepare: make,
    act: (driver, { scope }, id) => driver.vms.remove(id, scope),
  },
  {
    name: "deleting a running VM",
    prepare: makeAndStart,
    act: (driver, { scope }, id) => driver.vms.remove(id, scope),
  },
];

for (const deed of DEEDS) {
  qemuTest(`killed between any two steps of ${deed.name}, it is whole or gone`, async (lab) => {
    const { driver, state, scope } = lab;
    await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
    await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
    const base = await digestOfImage(lab);
    for (let life = 0;; life++) {
      const id = await deed.prepare(lab) ?? "";
      const { steps, wasKilled } = await actUntilKilled(lab, life, (mortal) => deed.act(mortal, lab, id));
      await assertWholeOrGone(lab, `after ${life} steps of ${deed.name}: ${steps.join(", ")}`);
      if (wasKilled) continue;
      assert.ok(life > 2, `${deed.name} has ${life} steps`);
      break;
    }
    assert.equal(await digestOfImage(lab), base, "the image is as it was");
  });
}

/** What is there can be started and removed; what is not has left nothing that is not named and removable. */
async function assertWholeOrGone(lab: QemuLab, when: string): Promise<void> {
  const { driver, scope, state, host } = lab;
  for (const orphan of await driver.vms.orphans(scope.signal)) {
    const { removed, warnings } = await driver.vms.removeOrphan(orphan, scope);
    assert.ok(removed, `${orphan.kind} ${orphan.id} stays (${warnings?.join()}) ${when}`);
  }
  const { vms, warnings } = await driver.vms.list(scope.signal);
  assert.deepEqual(warnings, [], when);
  for (const { id } of vms) {
    await driver.vms.start(id, scope);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "running", when);
    await driver.vms.remove(id, scope);
  }
  await driver.sandboxes?.sweep(scope);
  assert.deepEqual(await driver.vms.orphans(scope.signal), [], when);
  assert.deepEqual(namesIn(state.vms), [], when);
  assert.deepEqual(namesIn(host.environment.runtimeFolder()), [], when);
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function digestOfImage({ driver, scope }: QemuLab): Promise<string> {
  const images = (await driver.images?.list(scope.signal))?.images ?? [];
  const path = images.find(({ name }) => name === "blank")?.files[0]?.path ?? "";
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path));
  return new Uint8Array(digest).toHex();
}
