/** The life of real machines under QEMU: started, seen, stopped, removed, and what goes wrong on the way. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { HvError } from "../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { ProcessView } from "../../src/drivers/qemu/identity.ts";
import type { Host } from "../../src/host/host.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { findTinyImage } from "../support/tiny_image.ts";

/** No process gives way further. */
const NICEST = 19;

async function pidOf({ driver, scope }: QemuLab, id: string): Promise<number> {
  const { pid } = await driver.vms.get(id, scope.signal);
  assert.ok(pid !== undefined);
  return pid;
}

async function kill({ host }: QemuLab, pid: number): Promise<void> {
  await host.processes.kill(pid, "KILL");
  while (await host.processes.describe(pid) !== undefined) await host.clock.sleep(5);
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** What the kernel itself says of a process's limits: soft and hard of each. */
async function limitsOf({ host }: QemuLab, pid: number): Promise<string[]> {
  const output = ["--noheadings", "--raw", "--output", "RESOURCE,SOFT,HARD"];
  const { stdout } = await host.processes.run("prlimit", [
    ...["--pid", String(pid), "--data", "--nofile"],
    ...output,
  ]);
  return new TextDecoder().decode(stdout)
    .split("\n").map((line) => line.trim()).filter((line) => line !== "").sort();
}

/** How far a process gives way to others; one that is started gives way at least as far as its starter. */
async function niceOf({ host }: QemuLab, pid: number): Promise<number> {
  const { stdout } = await host.processes.run("ps", ["-o", "ni=", "-p", String(pid)]);
  return Number(new TextDecoder().decode(stdout));
}

/** Nothing of any VM is left: no folder, no socket, no lock, no process. */
async function assertNothingLeft(lab: QemuLab): Promise<void> {
  assert.deepEqual(namesIn(lab.state.vms), []);
  assert.deepEqual(namesIn(lab.host.environment.runtimeFolder()), []);
  assert.deepEqual(namesIn(lab.state.locks).filter((name) => name.startsWith("vm-")), []);
  const context = { host: lab.host, state: lab.state, config: DEFAULT_CONFIG, findings: lab.findings };
  const processes = await new ProcessView(context).all();
  assert.deepEqual(processes.filter(({ args }) => args.includes(lab.host.environment.runtimeFolder())), []);
  assert.deepEqual(await lab.driver.vms.orphans(lab.scope.signal), []);
}

qemuTest(
  "a VM is made off, runs when started, is off when its power is cut, and leaves nothing",
  async (lab) => {
    const { driver, scope } = lab;
    const id = await driver.vms.create(lab.vm({ name: "my,vm =x%20 'é" }), scope);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
    await driver.vms.start(id, scope);
    const running = await driver.vms.get(id, scope.signal);
    assert.deepEqual([running.state, running.name, running.managed], ["running", "my,vm =x%20 'é", true]);
    assert.ok(running.acceleration === "tcg" || running.acceleration === "kvm");
    const process = await lab.host.processes.describe(running.pid ?? 0);
    assert.match(process?.args ?? "", /^\S*qemu-system-x86_64 -uuid \S+ -name guest=my,,vm =x%20 'é /);
    const { memory_overhead_mb, open_files, nice } = DEFAULT_CONFIG.qemu;
    const memory = ((running.memory_mb ?? 0) + memory_overhead_mb) * 1024 * 1024;
    assert.deepEqual(await limitsOf(lab, running.pid ?? 0), [
      `DATA ${memory} ${memory}`,
      `NOFILE ${open_files} ${open_files}`,
    ]);
    const ours = await niceOf(lab, Deno.pid);
    assert.equal(await niceOf(lab, running.pid ?? 0), Math.min(ours + nice, NICEST));
    await driver.vms.start(id, scope);
    assert.equal((await driver.vms.get(id, scope.signal)).pid, running.pid, "a second start does nothing");
    await driver.vms.stop(id, "off", scope);
    await driver.vms.stop(id, "off", scope);
    assert.deepEqual((await driver.vms.list(scope.signal)).vms.map(({ state }) => state), ["off"]);
    const { removed, files } = await driver.vms.remove(id, scope);
    assert.ok(removed && files.some((path) => path.endsWith("vm.json")));
    await assertNothingLeft(lab);
  },
);

qemuTest("a guest that is asked shuts down by itself, even when it was still booting", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  await driver.vms.start(id, scope);
  await driver.vms.stop(id, "shutdown", scope);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
  await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});

qemuTest("a guest that does not shut down in time is left alone", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  await driver.vms.start(id, scope);
  const late = new HvError("hv.timeout", "too late");
  const signal = AbortSignal.any([scope.signal, AbortSignal.abort(late)]);
  await failureOf("hv.timeout", () => driver.vms.stop(id, "button", { ...scope, signal }));
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
  await driver.vms.remove(id, scope);
});

qemuTest("of two starts at the same instant one wins and the other finds the VM starting", async (lab) => {
  const { host, state, findings, scope } = lab;
  const id = await lab.driver.vms.create(lab.vm(), scope);
  // The winner goes no further than its first folder until the other has been refused, or has come as far.
  const meeting = Promise.withResolvers<void>();
  let folders = 0;
  const makeFolder: Host["files"]["makeFolder"] = async (path, options) => {
    if (++folders === 2) meeting.resolve();
    await meeting.promise;
    await host.files.makeFolder(path, options);
  };
  const held: Host = { ...host, files: { ...host.files, makeFolder } };
  const open = (): Driver => openQemuDriver({ host: held, state, config: DEFAULT_CONFIG, findings });
  const [driver, other] = [open(), open()];
  const starts = await Promise.allSettled(
    [driver, other].map((each) => each.vms.start(id, scope).finally(meeting.resolve)),
  );
  const failures = starts.flatMap((start) => (start.status === "rejected" ? [start.reason] : []));
  assert.equal(failures.length, 1);
  const [failure] = failures;
  assert.ok(failure instanceof HvError);
  assert.deepEqual([failure.code, failure.context.found], ["hv.conflict", "starting"]);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
  await driver.vms.remove(id, scope);
  for (const each of [driver, other]) await each.close();
});

qemuTest(
  "a VM whose QEMU was killed is off and starts again over its stale socket and pid file",
  async (lab) => {
    const { driver, scope } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    await kill(lab, await pidOf(lab, id));
    assert.ok(Deno.lstatSync(lab.runtime(id).monitor("calls")).isSocket, "the kill left its socket");
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
    await driver.vms.start(id, scope);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
    await driver.vms.remove(id, scope);
    await assertNothingLeft(lab);
  },
);

qemuTest(
  "with its pid file deleted or falsified a VM is still seen and stopped, and nobody else is hurt",
  async (lab) => {
    const { driver, scope, host } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    const log = `${lab.state.root}/sleep.log`;
    const bystander = await host.processes.start("setpriv", ["--", "sleep", "300"], { logFile: log });
    try {
      for (const text of ["", "-1", "abc", "2147483648", String(bystander.pid)]) {
        await driver.vms.start(id, scope);
        const pid = await pidOf(lab, id);
        await Deno.writeTextFile(lab.runtime(id).pidFile, text);
        const seen = await driver.vms.get(id, scope.signal);
        assert.deepEqual([seen.state, seen.pid], ["running", pid], text);
        await Deno.remove(lab.runtime(id).pidFile);
        assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
        await driver.vms.stop(id, "off", scope);
        assert.equal(await host.processes.describe(pid), undefined);
      }
      assert.ok(await host.processes.describe(bystander.pid) !== undefined);
    } finally {
      await host.processes.kill(bystander.pid, "KILL");
      await bystander.ended;
    }
    await driver.vms.remove(id, scope);
  },
);

qemuTest(
  "with its sockets deleted a living VM is unknown, cannot be started twice, and can be stopped",
  async (lab) => {
    const { driver, scope, host } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    const pid = await pidOf(lab, id);
    for (const socket of lab.runtime(id).sockets) await host.files.remove(socket);
    const seen = await driver.vms.get(id, scope.signal);
    assert.equal(seen.pid, pid);
    assert.ok(seen.state === "unknown" || seen.state === "starting", seen.state);
    const young = await failureOf("hv.conflict", () => driver.vms.start(id, scope));
    assert.deepEqual([young.context.wanted, young.context.found], ["off", "unknown"]);
    await Deno.remove(lab.runtime(id).path, { recursive: true });
    assert.equal((await driver.vms.get(id, scope.signal)).state, "unknown");
    const failure = await failureOf("hv.conflict", () => driver.vms.start(id, scope));
    assert.equal(failure.context.wanted, "off");
    assert.ok(await host.processes.describe(pid) !== undefined, "nobody ended it");
    await driver.vms.stop(id, "off", scope);
    assert.equal(await host.processes.describe(pid), undefined);
    await driver.vms.remove(id, scope);
    await assertNothingLeft(lab);
  },
);

qemuTest(
  "a monitor that somebody else holds is busy and not dead, and the VM can still be powered off",
  async (lab) => {
    const { driver, scope, host } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    {
      using holder = await host.sockets.connectUnix(lab.runtime(id).monitor("calls"));
      assert.ok(await holder?.read());
      const { state, state_reason: reason } = await driver.vms.get(id, scope.signal);
      assert.equal(state, "unknown");
      assert.match(reason ?? "", /busy/);
      await driver.vms.stop(id, "off", scope);
    }
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
    await driver.vms.remove(id, scope);
  },
);

qemuTest(
  "what lies in a socket's place is cleared when it is nobody's and refused when it is somebody's",
  async (lab) => {
    const { driver, scope } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    await kill(lab, await pidOf(lab, id));
    const monitor = lab.runtime(id).monitor("calls");
    await Deno.remove(monitor);
    await Deno.writeTextFile(monitor, "a plain file");
    await driver.vms.start(id, scope);
    await kill(lab, await pidOf(lab, id));
    await Deno.remove(monitor);
    await Deno.mkdir(`${monitor}/with`, { recursive: true });
    const failure = await failureOf("hv.conflict", () => driver.vms.start(id, scope));
    assert.equal(failure.context.path, monitor);
    await driver.vms.remove(id, scope);
    await assertNothingLeft(lab);
  },
);

qemuTest("QEMU's own words stand in the error when it does not start, and nothing is left", async (lab) => {
  const { driver, scope, state } = lab;
  const source = findTinyImage("broken");
  assert.ok(source?.kernel !== undefined);
  const head = Deno.readFileSync(source.kernel).slice(0, 4096);
  const kernel = `${state.root}/short`;
  Deno.writeFileSync(kernel, head);
  await driver.images?.import({ name: "broken", kernel }, scope);
  const id = await driver.vms.create(lab.vm({ image: "broken" }), scope);
  const failure = await failureOf("hv.bad_image", () => driver.vms.start(id, scope));
  assert.match(String(failure.context.qemu), /invalid kernel header/);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
  await failureOf("hv.bad_image", () => driver.sandboxes?.create(lab.sandbox({ image: "broken" }), scope));
  await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});

qemuTest("a taken name is refused and leaves nothing, also of two at the same instant", async (lab) => {
  const { driver, scope } = lab;
  const made = await Promise.allSettled([
    driver.vms.create(lab.vm(), scope),
    lab.another().vms.create(lab.vm(), scope),
  ]);
  assert.deepEqual(made.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await failureOf("hv.conflict", () => driver.vms.create(lab.vm(), scope));
  await failureOf("hv.not_found", () => driver.vms.create(lab.vm({ name: "other", image: "none" }), scope));
  const { vms } = await driver.vms.list(scope.signal);
  assert.equal(vms.length, 1);
  assert.deepEqual(namesIn(lab.state.vms), vms.map(({ id }) => id));
  for (const { id } of vms) await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});
