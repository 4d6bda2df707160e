/** VMs that somebody else started: they are seen and worked with, and neither ended nor emptied by being forgotten. */

import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import type { AdoptionAbilities } from "../../src/drivers/vm_extras.ts";
import { QmpSession } from "../../src/drivers/qemu/monitor/qmp.ts";
import type { ChildProcess } from "../../src/host/spawn.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { failureOf } from "../support/failures.ts";
import { hurriedClock } from "../support/hurried_host.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { findTinyImage } from "../support/tiny_image.ts";

/** The test's own limit comes first. */
const GREETING_LIMIT_MS = 600_000;

interface Foreign {
  uuid: string;
  monitor: string;
  process: ChildProcess;
}

/** Runs a test with a QEMU that hvlab did not start; it is killed afterwards. */
async function withForeign(
  lab: QemuLab,
  args: (folder: string) => string[],
  work: (foreign: Foreign) => Promise<void>,
): Promise<void> {
  const { host, state } = lab;
  // A socket's path may have 107 bytes.
  const folder = state.root.slice(0, state.root.lastIndexOf("/"));
  const uuid = crypto.randomUUID();
  const monitor = `${folder}/foreign.qmp`;
  const process = await host.processes.start("qemu-system-x86_64", [
    ...["-machine", "q35", "-m", "128", "-display", "none", "-nodefaults"],
    ...["-qmp", `unix:${monitor},server=on,wait=off`, ...args(folder), "-uuid", uuid],
  ], { logFile: `${folder}/foreign.log` });
  try {
    await untilAnswers(lab, monitor);
    await work({ uuid, monitor, process });
  } finally {
    await host.processes.kill(process.pid, "KILL");
    await process.ended;
  }
}

/** A QEMU greets before it has built its machine, and answers only behind that. */
async function untilAnswers({ host, scope }: QemuLab, monitor: string): Promise<void> {
  for (;;) {
    const connection = await host.sockets.connectUnix(monitor);
    if (connection !== undefined) {
      using session = await QmpSession.open(connection, host.clock, {
        ...scope,
        greetingMs: GREETING_LIMIT_MS,
      });
      await session.command("query-status", undefined, { ...scope, timeoutMs: GREETING_LIMIT_MS });
      session.close();
      return await session.ended;
    }
    await host.clock.sleep(5, scope.signal);
  }
}

function adoptionOf({ driver }: QemuLab): AdoptionAbilities {
  assert.ok(driver.adoption !== undefined);
  return driver.adoption;
}

const NAMED = (): string[] => ["-name", "their box"];

/** A guest whose agent answers. */
function withGuest(folder: string): string[] {
  const { kernel = "", initrd = "", append = "" } = findTinyImage() ?? {};
  return [
    ...NAMED(),
    ...["-kernel", kernel, "-initrd", initrd, "-append", append, "-device", "virtio-serial-pci"],
    ...["-chardev", `socket,id=talk,path=${folder}/foreign.agent,server=on,wait=off`],
    ...["-device", "virtserialport,chardev=talk,name=org.qemu.guest_agent.0"],
  ];
}

qemuTest("an adopted VM is seen, paused, used and stopped like any other", async (lab) => {
  const { driver, scope, state } = lab;
  await withForeign(lab, withGuest, async ({ uuid, monitor, process }) => {
    const id = await adoptionOf(lab).adopt({ locator: monitor }, scope);
    assert.equal(id, `vm-${uuid}`);
    const vm = await driver.vms.get(id, scope.signal);
    assert.deepEqual(
      [vm.name, vm.state, vm.memory_mb, vm.cpus, vm.pid, vm.adopted, vm.managed, vm.sandbox],
      ["their box", "running", 128, 1, process.pid, true, true, false],
    );
    const [channel] = driver.channels(vm);
    assert.ok(channel !== undefined);
    await channel.ping(scope.signal);
    await driver.pause?.pause(id, scope);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "paused");
    await driver.pause?.resume(id, scope);
    await driver.vms.start(id, scope);
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
    await driver.vms.stop(id, "shutdown", scope);
    await process.ended;
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
    await failureOf("hv.unsupported", () => driver.vms.start(id, scope));
    await driver.vms.remove(id, scope);
    assert.deepEqual([...Deno.readDirSync(state.vms)], []);
  });
});

qemuTest("forgetting and deleting an adopted VM touch nothing of it", async (lab) => {
  const { driver, scope, host, state } = lab;
  const disk = `${state.root}/theirs.img`;
  await Deno.writeFile(disk, new Uint8Array(65_536).fill(3));
  const args =
    (): string[] => [...NAMED(), "-drive", `file=${disk.replaceAll(",", ",,")},format=raw,if=virtio`];
  await withForeign(lab, args, async ({ monitor, process }) => {
    const id = await adoptionOf(lab).adopt({ locator: monitor, name: "mine" }, scope);
    assert.deepEqual(await driver.vms.losses(id, scope.signal), []);
    const { removed, warnings } = await driver.vms.remove(id, scope);
    assert.equal(removed, true);
    assert.match(warnings?.join() ?? "", /process and disks stay/);
    assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
    assert.equal(await adoptionOf(lab).adopt({ locator: monitor, name: "mine" }, scope), id);
    await adoptionOf(lab).forget(id, scope);
    assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
    assert.ok(await host.processes.describe(process.pid) !== undefined);
    assert.deepEqual(Deno.readFileSync(disk), new Uint8Array(65_536).fill(3));
  });
});

qemuTest("what would reach into the disks or the start of an adopted VM is refused", async (lab) => {
  const { driver, scope } = lab;
  await withForeign(lab, () => [...NAMED(), "-S"], async ({ monitor, process }) => {
    const id = await adoptionOf(lab).adopt({ locator: monitor }, scope);
    const tries: (() => Promise<unknown> | undefined)[] = [
      () => driver.vms.stop(id, "save", scope),
      () => driver.checkpoints?.create(id, { name: "one", memory_state: false }, scope),
      () => driver.copies?.clone(id, "web2", scope),
      () => driver.copies?.export(id, "/nowhere", scope),
      () => driver.configure?.configure(id, { cpus: 2 }, scope),
    ];
    for (const attempt of tries) await failureOf("hv.unsupported", async () => await attempt());
    // It waits for its owner to let it go, so a start is none of ours.
    await failureOf("hv.conflict", () => driver.vms.start(id, scope));
    assert.deepEqual(driver.channels(await driver.vms.get(id, scope.signal)), []);
    await driver.configure?.rename(id, "mine", scope);
    await driver.vms.stop(id, "off", scope);
    await process.ended;
    assert.deepEqual((await driver.vms.list(scope.signal)).vms.map(({ name, state }) => [name, state]), [
      ["mine", "off"],
    ]);
    await adoptionOf(lab).forget(id, scope);
  });
});

qemuTest("while its monitor serves somebody else an adopted VM is unknown, never off", async (lab) => {
  const { driver, scope, host } = lab;
  await withForeign(lab, NAMED, async ({ monitor, process }) => {
    const id = await adoptionOf(lab).adopt({ locator: monitor }, scope);
    {
      using holder = await host.sockets.connectUnix(monitor);
      assert.ok(await holder?.read());
      assert.equal((await driver.vms.get(id, scope.signal)).state, "unknown");
      await failureOf("hv.conflict", () => driver.vms.stop(id, "off", scope));
      await failureOf("hv.conflict", () => adoptionOf(lab).adopt({ locator: monitor }, scope));
    }
    await Deno.remove(monitor);
    const { state, pid } = await driver.vms.get(id, scope.signal);
    assert.ok(state === "unknown" || state === "starting", state);
    assert.equal(pid, process.pid);
    await adoptionOf(lab).forget(id, scope);
    assert.ok(await host.processes.describe(process.pid) !== undefined);
  });
});

qemuTest("a VM that another state folder runs is not adopted, and goes on as it was", async (lab) => {
  const { driver, scope, host, state } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  await driver.vms.start(id, scope);
  const { pid } = await driver.vms.get(id, scope.signal);
  const runtime = lab.runtime(id);
  const names = (): string[] => [...Deno.readDirSync(runtime.path)].map(({ name }) => name).sort();
  const before = names();
  const elsewhere = new StateFolder(`${state.root}-two`);
  const other = openQemuDriver({
    // A monitor that greets late is no busy one here.
    host: { ...host, clock: hurriedClock(1 / 100) },
    state: elsewhere,
    config: DEFAULT_CONFIG,
    findings: lab.findings,
  });
  try {
    const adopting = () => other.adoption?.adopt({ locator: runtime.monitor("calls") }, scope);
    const failure = await failureOf("hv.conflict", adopting);
    assert.match(failure.message, new RegExp(`it belongs to ${id} of the state folder`));
    const after = await driver.vms.get(id, scope.signal);
    assert.deepEqual([after.state, after.pid, names()], ["running", pid, before]);
    assert.deepEqual((await other.vms.list(scope.signal)).vms, []);
    assert.deepEqual([...Deno.readDirSync(elsewhere.vms)], []);
  } finally {
    await other.close();
    await driver.vms.remove(id, scope);
  }
});

qemuTest("what is no monitor, has no uuid or is our own is not adopted, and leaves nothing", async (lab) => {
  const { driver, scope, state } = lab;
  const adopt = (locator: string, name?: string): Promise<string> =>
    adoptionOf(lab).adopt({ locator, name }, scope);
  await failureOf("hv.not_found", () => adopt(`${state.root}/nothing`));
  await Deno.writeTextFile(`${state.root}/text`, "text");
  await failureOf("hv.usage", () => adopt(`${state.root}/text`));
  const id = await driver.vms.create(lab.vm(), scope);
  await driver.vms.start(id, scope);
  await failureOf("hv.conflict", () => adopt(lab.runtime(id).monitor("keeper")));
  await failureOf("hv.unsupported", () => adoptionOf(lab).forget(id, scope));
  await driver.vms.remove(id, scope);
  await withForeign(lab, () => [], async ({ monitor }) => {
    await failureOf("hv.usage", () => adopt(monitor));
    await driver.vms.create(lab.vm({ name: "taken" }), scope);
    await failureOf("hv.conflict", () => adopt(monitor, "taken"));
    assert.equal((await driver.vms.list(scope.signal)).vms.length, 1);
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
  });
  await withForeign(
    lab,
    () => ["-uuid", "00000000-0000-0000-0000-000000000000"],
    async ({ monitor, uuid }) => {
      // The last -uuid counts.
      assert.equal(await adopt(monitor, "last"), `vm-${uuid}`);
    },
  );
});
