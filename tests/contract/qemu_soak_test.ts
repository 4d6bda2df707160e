/** A hundred machines at once, and two hvlabs that do everything at once; minutes long, on request. */

import assert from "node:assert/strict";
import type { Driver } from "../../src/drivers/driver.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { IS_SOAK } from "../support/soak.ts";

const VMS = 100;
/** As many starts at a time as the driver of a fleet would ask for. */
const AT_ONCE = 8;
const ROUNDS = 12;

function soak(promise: string, work: (lab: QemuLab) => Promise<void>): void {
  const how = IS_SOAK ? "" : " (not here: it takes minutes; set HVLAB_SOAK=1)";
  qemuTest(`${promise}${how}`, work, IS_SOAK);
}

/** Does the work for every item, a few at a time, and waits for all, whatever fails. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  const results = await Promise.allSettled(lanes);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

async function assertNothingLeft({ driver, scope, state, host }: QemuLab): Promise<void> {
  assert.deepEqual(await driver.vms.orphans(scope.signal), []);
  assert.deepEqual([...Deno.readDirSync(state.vms)], []);
  const runtime = host.environment.runtimeFolder();
  assert.deepEqual([...Deno.readDirSync(runtime)], []);
  const locks = [...Deno.readDirSync(state.locks)].map(({ name }) => name);
  assert.deepEqual(locks.filter((name) => name.startsWith("vm-")), []);
}

soak("a hundred machines are made, run, are listed and go, and leave nothing", async (lab) => {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const base = (await driver.images?.list(scope.signal))?.images.find(({ name }) => name === "blank");
  const before = await Deno.readFile(base?.files[0]?.path ?? "");
  const ids: string[] = [];
  await forEach(Array.from({ length: VMS }, (_, index) => index), async (index) => {
    const name = `soak ${index}`;
    const id = await driver.vms.create(lab.vm({ name, image: "blank", memory_mb: 16 }), scope);
    ids.push(id);
    await driver.vms.start(id, scope);
  });
  const start = performance.now();
  const { vms, warnings } = await driver.vms.list(scope.signal);
  console.log(`note: the list of ${VMS} machines took ${Math.round(performance.now() - start)} ms`);
  assert.deepEqual(warnings, []);
  assert.deepEqual([vms.length, new Set(vms.map(({ state }) => state))], [VMS, new Set(["running"])]);
  await forEach(ids, (id) => driver.vms.remove(id, scope));
  await assertNothingLeft(lab);
  assert.deepEqual(await Deno.readFile(base?.files[0]?.path ?? ""), before, "the image is as it was");
});

soak("two hvlabs that do everything at once leave every VM whole, and nothing behind", async (lab) => {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const shared = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
  const busy = new Set(["hv.conflict", "hv.not_found", "hv.unavailable", "hv.outcome_unknown"]);
  const live = async (hvlab: Driver, who: string): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      const own = await hvlab.vms.create(
        lab.vm({ name: `${who} ${round}`, image: "blank", memory_mb: 16 }),
        scope,
      );
      await hvlab.vms.start(own, scope);
      const deeds = [
        () => hvlab.vms.start(shared, scope),
        () => hvlab.checkpoints?.create(shared, { name: `${who} ${round}`, memory_state: true }, scope),
        () => hvlab.vms.stop(shared, round % 2 === 0 ? "save" : "off", scope),
        () => hvlab.copies?.clone(shared, `${who} twin ${round}`, scope),
        () => hvlab.vms.list(scope.signal),
        () => hvlab.sandboxes?.sweep(scope),
      ];
      for (const deed of deeds) {
        try {
          await deed();
        } catch (error) {
          const code = error instanceof Error && "code" in error ? String(error.code) : "none";
          assert.ok(busy.has(code), `${who}: ${error}`);
        }
      }
      await hvlab.vms.remove(own, scope);
    }
  };
  await Promise.all([live(driver, "one"), live(lab.another(), "two")]);
  const { vms, warnings } = await driver.vms.list(scope.signal);
  assert.deepEqual(warnings, []);
  for (const vm of vms) assert.match(vm.state, /^(off|saved|running)$/);
  await driver.vms.start(shared, scope);
  assert.equal((await driver.vms.get(shared, scope.signal)).state, "running");
  for (const { id } of vms) await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});
