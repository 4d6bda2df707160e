/** Merges that are killed at each of their steps: the VM has the old disk or the merged one, at the latest after the next change. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import { openHyperVDriver } from "../../src/drivers/hyperv/driver.ts";
import type { Host } from "../../src/host/host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { endSharedHost, faultTest, type HyperVLab } from "../support/hyperv_lab.ts";
import { runShell } from "../support/hyperv_world.ts";
import { mortalHost } from "../support/mortal_host.ts";

const MIB = 1024 * 1024;
/** What a merge does on the host, in this order. */
const POINTS = [
  ["Merge-VHD", "before"],
  ["Merge-VHD", "after"],
  ["Set-VMHardDiskDrive", "before"],
  ["Set-VMHardDiskDrive", "after"],
] as const;
/** What hvlab itself does before the host merges. */
const FIRST_STEPS = ["make folder", "write"];

faultTest("a merge that is killed at any step is there or not", async (lab) => {
  const scene = await setUp(lab);
  for (const [cmdlet, when] of POINTS) {
    await dieAt(scene, cmdlet, when);
    const pair = await scene.pair();
    const failure = await mergeWith(scene, lab.world.host, pair.child);
    assert.ok(failure instanceof HvError && failure.code === "hv.outcome_unknown", String(failure));
    await assertWhole(scene, pair, `sidecar killed ${when} ${cmdlet}`);
  }
  for (const [cmdlet, when] of POINTS) {
    await dieAt(scene, cmdlet, when);
    const pair = await scene.pair();
    const { host, steps } = mortalHost(lab.world.host, FIRST_STEPS.length);
    await mergeWith(scene, host, pair.child);
    assert.deepEqual(steps, FIRST_STEPS);
    await assertWhole(scene, pair, `hvlab and sidecar killed ${when} ${cmdlet}`);
  }
  for (let life = 1; life <= FIRST_STEPS.length; life++) {
    const pair = await scene.pair();
    const { host, steps, isDead } = mortalHost(lab.world.host, life);
    await mergeWith(scene, host, pair.child);
    assert.ok(isDead());
    await assertWhole(scene, pair, `hvlab killed after ${steps.join(", ")}`);
  }
});

faultTest("a merge that the host ends after its call was cut off is completed", async (lab) => {
  const scene = await setUp(lab);
  const pair = await scene.pair();
  await cutOff(scene, pair);
  await runShell(lab.world, `Merge-VHD -Path '${pair.child}' -Force`);
  const planned = await lab.lab.failure("plan", { tool: "disk_merge", args: { path: pair.child } });
  assert.deepEqual([planned.code, planned.context.parent], ["hv.not_found", pair.parent]);
  await assertWhole(scene, pair, "merged by the host");
});

faultTest("a disk that somebody took away is no merged one", async (lab) => {
  const scene = await setUp(lab);
  const pair = await scene.pair();
  await cutOff(scene, pair);
  await Deno.remove(pair.child);
  await lab.lab.call("vm_configure", { vm: "web", notes: "a change" });
  assert.deepEqual(await scene.attached(), [pair.child]);
  assert.deepEqual(records(scene), []);
});

endSharedHost();

interface Pair {
  parent: string;
  child: string;
  /** What the parent holds once the child is merged into it. */
  merged: string;
}

interface Scene extends HyperVLab {
  state: StateFolder;
  /** A new pair of disks of which the VM has the upper one. */
  pair(): Promise<Pair>;
  /** The VM's disks beside its own. */
  attached(): Promise<string[]>;
}

async function setUp(surroundings: HyperVLab): Promise<Scene> {
  const { lab, world } = surroundings;
  const { id } = await lab.vm("vm_create", { name: "web", disk_size_mb: 64, memory_mb: 64 });
  const driver = await lab.session.driver();
  const attached = async (): Promise<string[]> =>
    (await driver.disks?.attached(id, AbortSignal.timeout(300_000)) ?? []).map(({ path }) => path).slice(1);
  let count = 0;
  return {
    ...surroundings,
    state: new StateFolder(`${world.folder}/state`),
    attached,
    async pair() {
      for (const path of await attached()) await lab.call("disk_detach", { vm: id, path });
      const [parent, child] = [`${lab.root}/it's ${++count}.vhdx`, `${lab.root}/child ${count}.vhdx`];
      await lab.call("disk_create", { path: parent, size_bytes: 64 * MIB });
      await lab.call("disk_create", { path: child, parent });
      await lab.call("disk_attach", { vm: id, path: child });
      return { parent, child, merged: await contentsOf(child) };
    },
  };
}

async function dieAt({ world }: Scene, cmdlet: string, when: string): Promise<void> {
  // The count of a rule that has been used holds on; the message makes each one another.
  const message = crypto.randomUUID();
  await world.setFaults({ rules: [{ cmdlet, do: "die", when, times: 1, message }] });
}

/** Merges through a driver and a sidecar of their own. Answers what it failed with. */
async function mergeWith({ state }: Scene, host: Host, child: string): Promise<unknown> {
  const driver = openHyperVDriver({ host, state });
  const scope: CallScope = { signal: AbortSignal.timeout(300_000), progress: () => {} };
  try {
    await driver.disks?.merge(child, false, scope);
  } catch (error) {
    return error;
  } finally {
    await driver.close();
  }
}

/** Cancels a merge that has begun and does not end. */
async function cutOff(scene: Scene, { child }: Pair): Promise<void> {
  const { lab, world } = scene;
  await world.setFaults({ rules: [{ cmdlet: "Merge-VHD", do: "stuck" }] });
  const cancel = new AbortController();
  const request = { tool: "disk_merge", args: { path: child }, confirm: child };
  const call = lab.pipeline.call(request, { signal: cancel.signal, progress: () => {} });
  const begun = async (): Promise<void> => {
    while (records(scene).length === 0) await lab.session.host.clock.sleep(20, cancel.signal);
  };
  await Promise.race([call, begun()]);
  cancel.abort();
  await assert.rejects(call, { code: "hv.cancelled" });
  await world.setFaults({});
}

/** The next change leaves the VM with a disk that is there, and the merge can be made where it was not. */
async function assertWhole(scene: Scene, { parent, child, merged }: Pair, when: string): Promise<void> {
  const { lab } = scene;
  const isThere = async (): Promise<boolean> => await lab.session.host.files.stat(child) !== undefined;
  const [path] = await scene.attached();
  if (path === child && !await isThere()) {
    await lab.call("vm_start", { vm: "web" });
    await lab.call("vm_stop", { vm: "web", mode: "off" });
  } else {
    await lab.call("vm_configure", { vm: "web", notes: when });
  }
  const wasMerged = !await isThere();
  assert.deepEqual(await scene.attached(), [wasMerged ? parent : child], when);
  if (!wasMerged) {
    assert.equal((await lab.call("disk_chain", { path: child })).broken, undefined, when);
    await lab.call("disk_merge", { path: child }, { confirm: child });
    assert.ok(!await isThere(), when);
  }
  assert.deepEqual(await scene.attached(), [parent], when);
  assert.equal(await contentsOf(parent), merged, when);
  assert.deepEqual(records(scene), [], when);
  const locks = [...Deno.readDirSync(scene.state.locks)].map(({ name }) => name);
  for (const name of locks.filter((name) => name.startsWith("disk-"))) {
    using lock = await lab.session.host.locks.tryTake(`${scene.state.locks}/${name}`);
    assert.ok(lock !== undefined, when);
  }
}

function records({ state }: Scene): string[] {
  try {
    return [...Deno.readDirSync(state.hypervMerges)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/** The simulated host's mark of a disk's contents. */
async function contentsOf(path: string): Promise<string> {
  const [, id] = /"DataId":"([0-9a-f-]{36})"/.exec(await Deno.readTextFile(path)) ?? [];
  assert.ok(id !== undefined, path);
  return id;
}
