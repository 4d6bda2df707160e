/** Disks that are attached, detached and merged by calls that are killed between any two steps. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { Vm } from "../../src/contract/vm.ts";
import type { DiskAbilities } from "../../src/drivers/disk_abilities.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { askMonitor } from "../../src/drivers/qemu/monitor/monitors.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { actUntilKilled } from "../support/act_until_killed.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const MIB = 1024 * 1024;

interface Scene {
  lab: QemuLab;
  id: string;
  parent: string;
  child: string;
}

interface Deed {
  name: string;
  running: boolean;
  prepare: (disks: DiskAbilities, scene: Scene) => Promise<unknown>;
  act: (disks: DiskAbilities, scene: Scene) => Promise<unknown>;
  /** What holds once the call has been made again and has ended. */
  done: (disks: DiskAbilities, scene: Scene) => Promise<void>;
}

const attach: Deed["act"] = (disks, { id, child, lab: { scope } }) => disks.attach(id, child, {}, scope);
const detach: Deed["act"] = async (disks, { id, child, lab: { scope } }) => {
  try {
    await disks.detach(id, child, scope);
  } catch (error) {
    // A killed call may have done it all.
    if (!(error instanceof HvError) || error.code !== "hv.not_found") throw error;
  }
};
const merge: Deed["act"] = async (disks, { child, lab: { scope, host } }) => {
  if (await host.files.stat(child) !== undefined) await disks.merge(child, false, scope);
};

/** A pair of disks of which the upper one says so at its first sector. */
const makePair: Deed["prepare"] = async (disks, { id, parent, child, lab: { scope } }) => {
  for (const { path } of await disks.attached(id, scope.signal)) await disks.detach(id, path, scope);
  for (const path of [child, parent]) await Deno.remove(path).catch(() => {});
  await disks.create({ path: parent, type: "dynamic", size_bytes: MIB }, scope);
  await disks.create({ path: child, type: "differencing", parent }, scope);
  assert.match(await diskIo(child, "write -P 65 0 512"), /^wrote 512/);
};

async function diskIo(path: string, command: string): Promise<string> {
  const { stdout } = await new Deno.Command("qemu-io", { args: ["-f", "qcow2", "-c", command, path] })
    .output();
  return new TextDecoder().decode(stdout);
}

const isAttached: Deed["done"] = async (disks, { id, child, lab: { scope } }) => {
  const found = (await disks.attached(id, scope.signal)).map((
    { path, at_next_start: later },
  ) => [path, later]);
  assert.deepEqual(found, [[child, true]]);
};
const isDetached: Deed["done"] = async (disks, { id, lab: { scope } }) =>
  assert.deepEqual(await disks.attached(id, scope.signal), []);
const isMerged: Deed["done"] = async (disks, { id, parent, child, lab: { scope, host } }) => {
  assert.equal(await host.files.stat(child), undefined);
  assert.equal((await disks.chain(parent, scope.signal)).broken, undefined);
  for (const { path } of await disks.attached(id, scope.signal)) {
    assert.equal(path, parent);
    await disks.detach(id, path, scope);
  }
  assert.equal((await disks.check(parent, scope)).sound, true);
  // It says first that a pattern is another one.
  assert.match(await diskIo(parent, "read -P 65 0 512"), /^read 512/);
};

const DEEDS: readonly Deed[] = [
  { name: "attaching to a running VM", running: true, prepare: makePair, act: attach, done: isAttached },
  {
    name: "detaching from a running VM",
    running: true,
    prepare: async (disks, scene) => {
      await makePair(disks, scene);
      await attach(disks, scene);
    },
    act: detach,
    done: isDetached,
  },
  {
    name: "merging under a running guest",
    running: true,
    prepare: async (disks, scene) => {
      await makePair(disks, scene);
      await attach(disks, scene);
    },
    act: merge,
    done: isMerged,
  },
  { name: "attaching at rest", running: false, prepare: makePair, act: attach, done: isAttached },
  { name: "merging at rest", running: false, prepare: makePair, act: merge, done: isMerged },
];

for (const deed of DEEDS) {
  qemuTest(`killed between any two steps of ${deed.name}, a VM has no record without truth`, async (lab) => {
    const scene = await setUp(lab);
    const disks = disksOf(lab.driver);
    await bring(scene, deed.running);
    for (let life = 0;; life++) {
      await deed.prepare(disks, scene);
      const { steps, wasKilled } = await actUntilKilled(
        scene.lab,
        life,
        (mortal) => deed.act(disksOf(mortal), scene),
      );
      const when = `${deed.name}, after ${life} steps: ${steps.join(", ")}`;
      await assertTrue(scene, deed, when);
      await deed.act(disks, scene);
      await deed.done(disks, scene).catch((error) => {
        throw new Error(when, { cause: error });
      });
      await assertTidy(scene, deed, when);
      if (wasKilled) continue;
      assert.ok(life > 1, `${deed.name} has ${life} steps`);
      break;
    }
  });
}

function disksOf({ disks }: Driver): DiskAbilities {
  assert.ok(disks !== undefined);
  return disks;
}

async function setUp(lab: QemuLab): Promise<Scene> {
  const { driver, scope, state } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  return { lab, id, parent: `${state.root}/parent.qcow2`, child: `${state.root}/child.qcow2` };
}

async function bring(
  { lab: { driver, scope, host: { clock } }, id }: Scene,
  running: boolean,
): Promise<void> {
  if (!running) return await driver.vms.stop(id, "off", scope);
  await driver.vms.start(id, scope);
  await waitUntil(driver, id, "heartbeat", { ...scope, clock });
}

/** No record names a disk that a running machine lacks, but for the parent below one that it has; and the machine lives. */
async function assertTrue(scene: Scene, { running }: Deed, when: string): Promise<void> {
  const { lab: { driver, scope }, id, parent, child } = scene;
  const { state, state_reason: why } = await settledVm(scene);
  assert.match(state, running ? /^(?:running|paused)$/ : /^off$/, `${state} (${why}): ${when}`);
  if (!running) return;
  const attached = await disksOf(driver).attached(id, scope.signal);
  const isBelow = attached.some((disk) => disk.attached && disk.path === child);
  for (const disk of attached) {
    const isThere = disk.attached || (disk.path === parent && isBelow);
    assert.ok(isThere || !disk.at_next_start, when);
  }
}

/** A QEMU that is at work on what the killed call began answers nobody meanwhile. */
async function settledVm({ lab: { driver, host, scope }, id }: Pick<Scene, "lab" | "id">): Promise<Vm> {
  for (;;) {
    const vm = await driver.vms.get(id, scope.signal);
    if (vm.state !== "unknown") return vm;
    await host.clock.sleep(20, scope.signal);
  }
}

async function assertTidy({ lab, id }: Scene, { running }: Deed, when: string): Promise<void> {
  const { host, state } = lab;
  for (const folder of [state.root, state.disks]) {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    assert.deepEqual(names.filter((name) => name.startsWith(".")), [], when);
  }
  for (const { name } of Deno.readDirSync(state.locks)) {
    using lock = await host.locks.tryTake(`${state.locks}/${name}`);
    assert.ok(lock !== undefined, `${name} ${when}`);
  }
  if (!running) return;
  assert.equal((await settledVm({ lab, id })).state, "running", when);
  const left = await askMonitor(host, id, lab.runtime(id), async (session) => ({
    jobs: await session.command("query-jobs"),
    nodes: JSON.stringify(await session.command("query-named-block-nodes", { flat: true })),
  }));
  const attached = (await disksOf(lab.driver).attached(id, lab.scope.signal)).length;
  assert.deepEqual(left?.jobs, [], when);
  assert.equal(/hvdisk-/.test(left?.nodes ?? "nothing"), attached > 0, when);
}
