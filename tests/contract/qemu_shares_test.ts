/** Folders shared with real guests, and the programs that serve them: they live and die with their machine. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { HvError } from "../../src/base/errors.ts";
import { folderOf, nameOf } from "../../src/base/paths.ts";
import type { Share } from "../../src/contract/share.ts";
import { findHelpers, startHelpers } from "../../src/drivers/qemu/launch/helpers.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { planShares } from "../../src/drivers/qemu/shares.ts";
import { prepareRuntimeFolder } from "../../src/drivers/qemu/runtime_folder.ts";
import { VmRecords } from "../../src/drivers/qemu/records.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { failureOf } from "../support/failures.ts";
import { mortalHost } from "../support/mortal_host.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const HAS_VIRTIOFSD = existsSync("/usr/lib/qemu/virtiofsd") && Deno.uid() === 0;
/** More steps than a start has. */
const FOREVER = 200;

function shareTest(promise: string, work: (lab: QemuLab, folder: string) => Promise<void>): void {
  qemuTest(promise, async (lab) => {
    // The state folder's own name has a comma, a blank and a percent sign in it.
    const folder = `${lab.state.root}/shared \\, é`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/from-host`, "hello");
    await work(lab, folder);
  }, HAS_VIRTIOFSD);
}

function contextOf({ host, state, findings }: QemuLab) {
  return { host, state, findings, config: DEFAULT_CONFIG };
}

async function shell({ driver, host, scope }: QemuLab, id: string, script: string): Promise<string> {
  const clock = host.clock;
  const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
  const argv = ["/bin/sh", "-c", script];
  const { stdout, stderr } = await runInGuest(openChannel(driver, vm), { argv }, { ...scope, clock });
  return stdout + stderr;
}

async function helpersOf(lab: QemuLab, id: string): Promise<number[]> {
  const found = await findHelpers(contextOf(lab));
  return found.filter(({ runtime }) => runtime === lab.runtime(id).path).map(({ pid }) => pid);
}

/** They end by themselves a moment after their QEMU. */
async function waitUntilHelpless(lab: QemuLab, id: string): Promise<void> {
  while ((await helpersOf(lab, id)).length > 0) await lab.host.clock.sleep(20, lab.scope.signal);
}

function both(folder: string): Share[] {
  return [
    { host: folder, guest: "/mnt/open place", read_only: false },
    { host: folder, guest: "/mnt/shut", read_only: true },
  ];
}

shareTest(
  "a guest reads and writes a shared folder, and cannot write one that is read-only",
  async (lab, folder) => {
    const { driver, scope } = lab;
    const runtime = lab.host.environment.runtimeFolder();
    const around: Share = { host: folderOf(runtime), guest: "/mnt/around", read_only: true };
    const shares = [...both(folder), around];
    const id = await driver.sandboxes?.create(lab.sandbox({ shares }), scope) ?? "";
    assert.equal(await shell(lab, id, "cat '/mnt/open place/from-host'"), "hello");
    assert.equal(
      await shell(lab, id, `cat '/mnt/around/${nameOf(runtime)}'/*/owner.json | grep -c ${id}`),
      "1\n",
      "a folder with the machine's own sockets in it can be shared read-only",
    );
    await shell(lab, id, "echo guest >'/mnt/open place/from-guest'");
    assert.equal(await Deno.readTextFile(`${folder}/from-guest`), "guest\n");
    const words = await shell(
      lab,
      id,
      "mount -o remount,rw /mnt/shut; echo x >/mnt/shut/no; cat /mnt/shut/from-guest",
    );
    assert.match(words, /^guest\n/);
    assert.match(words, /Read-only file system/);
    assert.ok(!existsSync(`${folder}/no`));
    assert.deepEqual((await driver.vms.get(id, scope.signal)).shares, shares);
    await driver.vms.remove(id, scope);
    assert.deepEqual(await helpersOf(lab, id), []);
    assert.ok(existsSync(`${folder}/from-host`), "what was shared stays");
  },
);

shareTest(
  "a lasting VM has its folders again after a stop, a crash of QEMU and a restart",
  async (lab, folder) => {
    const { driver, scope, host } = lab;
    const id = await driver.vms.create(lab.vm({ shares: both(folder) }), scope);
    await driver.vms.start(id, scope);
    assert.equal(await shell(lab, id, "cat /mnt/shut/from-host"), "hello");
    const { pid = 0 } = await driver.vms.get(id, scope.signal);
    await host.processes.kill(pid, "KILL");
    await waitUntilHelpless(lab, id);
    // QEMU lets go of its sockets, for which the helpers wait, a moment before it is gone.
    await waitUntil(driver, id, "off", { ...scope, clock: host.clock });
    await driver.vms.start(id, scope);
    assert.equal(await shell(lab, id, "cat /mnt/shut/from-host"), "hello");
    await driver.vms.stop(id, "shutdown", scope);
    await waitUntilHelpless(lab, id);
    await driver.vms.remove(id, scope);
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
  },
);

shareTest(
  "memory cannot be saved while a folder is shared, and the refusal names the folder's device",
  async (lab, folder) => {
    const { driver, scope } = lab;
    const id = await driver.vms.create(lab.vm({ shares: both(folder) }), scope);
    await driver.vms.start(id, scope);
    const failure = await failureOf("hv.unsupported", () => driver.vms.stop(id, "save", scope));
    assert.match(failure.message, /shared folder/);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
    await driver.vms.remove(id, scope);
  },
);

shareTest("a VM whose shared folder is gone does not start, and says which", async (lab, folder) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm({ shares: both(folder) }), scope);
  await Deno.remove(folder, { recursive: true });
  const failure = await failureOf("hv.io", () => driver.vms.start(id, scope));
  assert.equal(failure.context.path, folder);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
  await driver.vms.remove(id, scope);
});

shareTest(
  "a program that serves a machine which never came is an orphan and can be removed",
  async (lab, folder) => {
    const { driver, scope, host, state } = lab;
    const id = await driver.vms.create(lab.vm({ shares: both(folder) }), scope);
    const context = contextOf(lab);
    const runtime = lab.runtime(id);
    await prepareRuntimeFolder(host, runtime, { vm: id, state: state.root });
    const record = await new VmRecords(context).get(id);
    const { helpers } = await planShares(context, record, runtime, scope.signal);
    await startHelpers(context, runtime.path, helpers, { tiedToUs: false, signal: scope.signal });
    const orphans = await driver.vms.orphans(scope.signal);
    assert.deepEqual(orphans.map(({ kind, id: vm }) => [kind, vm]), [["helper", id], ["helper", id]]);
    const [orphan] = orphans;
    assert.ok(orphan !== undefined);
    assert.ok((await driver.vms.removeOrphan(orphan, scope)).removed);
    assert.deepEqual(await helpersOf(lab, id), []);
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
    await driver.vms.remove(id, scope);
  },
);

shareTest(
  "killed between any two steps of its start, a VM with a shared folder starts again",
  async (lab, folder) => {
    const { driver, scope, host: real, state, findings } = lab;
    const id = await driver.vms.create(lab.vm({ shares: both(folder), memory_mb: 64 }), scope);
    for (let life = 0; life < FOREVER; life++) {
      const { host, isDead } = mortalHost(real, life);
      const mortal = openQemuDriver({ host, state, config: DEFAULT_CONFIG, findings });
      await mortal.vms.start(id, scope).catch((error) => {
        if (!isDead()) throw error;
      });
      await mortal.close();
      await driver.vms.start(id, scope);
      assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
      assert.ok((await helpersOf(lab, id)).length >= 2);
      await driver.vms.stop(id, "off", scope);
      assert.deepEqual(await helpersOf(lab, id), [], `after ${life} steps`);
      if (!isDead()) {
        assert.ok(life > 3);
        break;
      }
    }
    await driver.vms.remove(id, scope);
  },
);

shareTest(
  "a sandbox with a shared folder boots beside a warm template, and says why",
  async (lab, folder) => {
    const { driver, scope } = lab;
    await driver.templates?.warm("tiny", { memory_mb: 128, cpus: 1 }, scope);
    const said: string[] = [];
    const warned = { ...scope, warn: (text: string) => void said.push(text) };
    const id = await driver.sandboxes?.create(lab.sandbox({ shares: both(folder) }), warned) ?? "";
    assert.equal(said.length, 1);
    assert.match(said[0] ?? "", /was booted, not cloned .*folder cannot be shared/);
    assert.equal(await shell(lab, id, "cat /mnt/shut/from-host"), "hello");
    await driver.vms.remove(id, scope);
  },
);

shareTest(
  "a guest that knows neither virtiofs nor 9p is refused with both ends named",
  async (lab, folder) => {
    const { driver, scope } = lab;
    const shares = [{ host: folder, guest: "/mnt/x", read_only: false }];
    const id = await driver.sandboxes?.create(lab.sandbox(), scope) ?? "";
    const clock = lab.host.clock;
    const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
    // The machine was made without the folder, as a guest without the drivers sees it.
    const failure = await failureOf(
      "hv.unsupported",
      async () => await driver.shares?.mount({ ...vm, shares }, scope.signal),
    );
    assert.ok(failure instanceof HvError);
    assert.match(failure.message, /in the guest virtiofs: .+; 9p: .+/);
    await driver.vms.remove(id, scope);
  },
);
