/** A whole Debian as a guest: one first boot with cloud-init, and everything that needs systemd, OpenSSH or GNU programs on it. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import { CloudInitOutcome } from "../../src/contract/guest_access.ts";
import { GuestEvents } from "../../src/contract/guest_events.ts";
import { GuestInfo } from "../../src/contract/guest_info.ts";
import { GuestProcesses } from "../../src/contract/guest_processes.ts";
import { GuestServices } from "../../src/contract/guest_services.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { findDebianDisk, NO_DEBIAN } from "../support/debian_image.ts";
import { startKeeper } from "../support/test_keeper.ts";
import { hasProgram } from "../support/tiny_image.ts";
import { Lab } from "./lab.ts";

const BOOT_LIMIT_S = 600;
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHhmgzUwDAO6KTaJH1qKyUPCx4LnN3xcBOTYkZXFJBCM somebody@here";
const USER_DATA = `#cloud-config
write_files:
  - path: /etc/from-user-data
    content: "é"
runcmd:
  - [ sh, -c, "echo ran >/run/from-user-data" ]
`;

Deno.test({
  name: `qemu: a Debian is set up by cloud-init, looked into, and given folders${NO_DEBIAN}`,
  ignore: findDebianDisk() === undefined,
  async fn(test) {
    await using lab = await Lab.open({ openDriver, image: "debian" });
    await lab.call("image_import", { name: "debian", disk: findDebianDisk() ?? "" });
    await Deno.writeTextFile(`${lab.root}/user-data.yaml`, USER_DATA);
    await Deno.writeTextFile(`${lab.root}/key.pub`, `${KEY}\n`);
    const isUp = await test.step(
      "cloud-init does what it was given, and the wait for a login tells so",
      () => firstBoot(lab),
    );
    if (!isUp) return;
    await test.step("what it is, runs and keeps is told", () => lookInside(lab));
    await test.step("services and events are filtered and bounded", () => readServicesAndEvents(lab));
    await test.step("its kernel is told what to panic at, though it has read its own command line", () =>
      tellKernel(lab));
    await test.step("folders go there and back", () => copyFolders(lab));
    await test.step({
      name: "the same over SSH",
      ignore: !hasProgram("ssh"),
      fn: () => overSsh(lab),
    });
    await test.step("a failed first boot is the wait's failure", () => failedBoot(lab));
    await test.step("the seed goes with the VM", async () => {
      const { id } = await lab.vm("vm_get", { vm: "deb" });
      const seed = `${lab.root}/state/vms/${id}/seed.iso`;
      assert.equal(((await Deno.stat(seed)).mode ?? 0) & 0o077, 0);
      const { confirm } = await lab.plan("vm_delete", { vm: "deb" });
      await lab.call("vm_delete", { vm: "deb" }, { confirm });
      await assert.rejects(Deno.stat(seed), Deno.errors.NotFound);
    });
  },
});

async function firstBoot(lab: Lab): Promise<void> {
  const files = { user_data: `${lab.root}/user-data.yaml`, ssh_key: [`${lab.root}/key.pub`] };
  const vm = await lab.vm("vm_create", {
    name: "deb",
    image: "debian",
    memory_mb: 768,
    host_name: "lab-1",
    ...files,
  });
  assert.equal(vm.cloud_init, true);
  await lab.call("vm_start", { vm: "deb" });
  const wait = { vm: "deb", until: "login" };
  const waited = await patiently(() => lab.call("vm_wait", wait, { timeout_s: BOOT_LIMIT_S }));
  const outcome = CloudInitOutcome.parse(waited.cloud_init);
  assert.deepEqual([outcome.state, outcome.errors], ["done", undefined]);
  const script =
    "cat /etc/from-user-data; echo; cat /run/from-user-data; hostname; cat /home/debian/.ssh/authorized_keys";
  const { stdout } = await lab.exec("deb", ["sh", "-c", script]);
  assert.equal(stdout, `é\nran\nlab-1\n${KEY}\n`);
}

/** A call of the lab has a limit of its own, which a first boot without KVM on a busy machine outlasts. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0;; tries++) {
    try {
      return await work();
    } catch (error) {
      const isLimit = error instanceof HvError && error.code === "hv.cancelled";
      if (!isLimit || tries >= BOOT_LIMIT_S / 120) throw error;
    }
  }
}

async function lookInside(lab: Lab): Promise<void> {
  const info = GuestInfo.parse(await lab.call("guest_info", { vm: "deb" }));
  assert.match(info.os, /^Debian GNU\/Linux 12/);
  assert.match(info.kernel, /^Linux 6\.1\./);
  assert.deepEqual([info.host_name, info.os_version, info.cpus], ["lab-1", "12", 1]);
  assert.ok(Math.abs(info.clock.skew_ms) <= info.clock.uncertain_by_ms + 2_000, JSON.stringify(info.clock));
  assert.ok(info.nics.some(({ addresses }) => addresses.includes("10.0.2.15/24")));
  assert.ok(info.volumes.some(({ path, file_system }) => path === "/" && file_system === "ext4"));
  assert.ok(info.disks.some(({ read_only }) => read_only), "the seed");
  assert.ok(info.agent?.commands.includes("guest-exec"));

  const ssh = GuestProcesses.parse(await lab.call("guest_processes", { vm: "deb", match: "SSHD" }));
  assert.deepEqual(ssh.processes.map(({ name, owner, parent_pid }) => [name, owner, parent_pid]), [[
    "sshd",
    "root",
    1,
  ]]);
  const bounded = GuestProcesses.parse(await lab.call("guest_processes", { vm: "deb", limit: 3 }));
  assert.deepEqual([bounded.processes.map(({ pid }) => pid), bounded.truncated], [[1, 2, 3], true]);
  assert.ok(bounded.found > 20);
}

async function readServicesAndEvents(lab: Lab): Promise<void> {
  const script =
    // What did not start in time while a slow machine booted is not meant here.
    "systemctl reset-failed; " +
    "systemd-run --unit=doomed sh -c 'echo it was doomed; exit 7'; systemd-run --unit=fine true; " +
    "until systemctl is-failed -q doomed; do sleep 0.2; done; while systemctl is-active -q fine; do sleep 0.2; done; " +
    "printf 'a line of (7)\\n' | logger -p user.warning -t speaker; journalctl --sync";
  await lab.exec("deb", ["sh", "-c", script]);
  const failed = GuestServices.parse(await lab.call("guest_services", { vm: "deb", failed: true }));
  assert.deepEqual(failed.services.map(({ name, exit_code, reason }) => [name, exit_code, reason]), [
    ["doomed", 7, "exit-code"],
  ]);
  const running = GuestServices.parse(
    await lab.call("guest_services", { vm: "deb", service_state: "running", match: "ssh" }),
  );
  assert.deepEqual(running.services.map(({ name, start }) => [name, start]), [["ssh", "enabled"]]);

  const events = async (wish: Record<string, string | number>): Promise<GuestEvents> =>
    GuestEvents.parse(await lab.call("guest_events", { vm: "deb", since_s: 3600, ...wish }));
  const spoken = await events({ source: "speaker" });
  assert.deepEqual(spoken.events.map(({ level, message, source }) => [level, message, source]), [
    ["warning", "a line of (7)", "speaker"],
  ]);
  assert.equal((await events({ source: "speaker", level: "error" })).events.length, 0);
  assert.deepEqual((await events({ text: "LINE OF (7)" })).events.length, 1);
  assert.ok((await events({ source: "doomed" })).events.some(({ message }) => message === "it was doomed"));
  const newest = await events({ limit: 5 });
  assert.deepEqual([newest.events.length, newest.truncated], [5, true]);
  const times = newest.events.map(({ time }) => time);
  assert.deepEqual(times, [...times].sort().reverse());
  assert.equal((await events({ since_s: 1, source: "speaker", text: "no such text" })).events.length, 0);
}

async function tellKernel(lab: Lab): Promise<void> {
  const wish = { vm: "deb", on_crash: "collect", panic_on: ["warn", "oom"] };
  assert.deepEqual((await lab.call("vm_configure", wish)).now, ["on_crash"], "nobody is there to tell it");
  {
    await using _keeper = await startKeeper(lab.session);
    while (!(await lab.vm("vm_get", { vm: "deb" })).panic_told) await lab.session.host.clock.sleep(100);
  }
  const names = [
    "kernel/panic_on_oops",
    "kernel/panic_on_warn",
    "vm/panic_on_oom",
    "kernel/softlockup_panic",
  ];
  const { stdout } = await lab.exec("deb", ["cat", ...names.map((name) => `/proc/sys/${name}`)]);
  assert.equal(stdout, "1\n1\n1\n0\n");
  await lab.call("vm_configure", { vm: "deb", on_crash: "stop", panic_on: [] });
  assert.equal((await lab.vm("vm_get", { vm: "deb" })).panic_told, undefined);
}

/** Many small files, and one of each kind that is hard to copy. */
async function makeFolder(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/deep/${"long folder ".repeat(9).trim()}/é`, { recursive: true });
  await Deno.mkdir(`${folder}/empty`);
  for (let at = 0; at < 300; at++) await Deno.writeTextFile(`${folder}/deep/${at}`, `content of ${at}`);
  await Deno.writeTextFile(`${folder}/run.sh`, "#!/bin/sh\n", { mode: 0o750 });
  await Deno.utime(`${folder}/run.sh`, 1e9, 1e9);
  await Deno.writeFile(
    `${folder}/deep/${"long folder ".repeat(9).trim()}/é/it's`,
    new Uint8Array(300_000).fill(7),
  );
}

async function filesIn(folder: string, under = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${under}`)) {
    const path = `${under}${name}`;
    const { mode, mtime } = await Deno.stat(`${folder}/${path}`);
    const facts = `${((mode ?? 0) & 0o777).toString(8)} ${Math.floor((mtime?.getTime() ?? 0) / 1000)}`;
    if (isDirectory) Object.assign(found, await filesIn(folder, `${path}/`), { [`${path}/`]: facts });
    else {
      const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(`${folder}/${path}`));
      found[path] = `${facts} ${new Uint8Array(digest).toHex()}`;
    }
  }
  return found;
}

async function copyFolders(lab: Lab): Promise<void> {
  const folder = `${lab.root}/folder`;
  await makeFolder(folder);
  const to = { vm: "deb", source: folder, destination: "/srv/a b/folder" };
  const sent = await lab.call("guest_copy_to", to);
  assert.deepEqual([sent.files, sent.skipped], [302, undefined]);
  assert.equal((await lab.failure("guest_copy_to", to)).code, "hv.conflict");
  const from = { vm: "deb", source: "/srv/a b/folder", destination: `${lab.root}/new/back` };
  assert.equal((await lab.call("guest_copy_from", from)).files, 302);
  assert.deepEqual(await filesIn(from.destination), await filesIn(folder));

  await Deno.writeTextFile(`${folder}/run.sh`, "changed");
  await Deno.remove(`${folder}/deep/7`);
  await lab.call("guest_copy_to", { ...to, overwrite: true });
  const { stdout } = await lab.exec("deb", [
    "sh",
    "-c",
    "cat '/srv/a b/folder/run.sh' '/srv/a b/folder/deep/7'",
  ]);
  assert.equal(stdout, "changedcontent of 7");
  await lab.exec("deb", ["ln", "-s", "/etc/passwd", "/srv/a b/folder/link"]);
  await lab.exec("deb", ["ln", "/srv/a b/folder/run.sh", "/srv/a b/folder/second"]);
  await Deno.writeTextFile(`${from.destination}/mine`, "stays");
  const again = await lab.call("guest_copy_from", { ...from, overwrite: true });
  assert.deepEqual(again.skipped, [{ path: "./link", reason: "it is a link" }]);
  assert.equal(await Deno.readTextFile(`${from.destination}/mine`), "stays");
  assert.equal(await Deno.readTextFile(`${from.destination}/second`), "changed");

  await Deno.mkdir(`${lab.root}/large`);
  await Deno.writeFile(`${lab.root}/large/file`, new Uint8Array(6 * 1024 * 1024));
  const tooSmall = { vm: "deb", source: `${lab.root}/large`, destination: "/run/lock/a/folder" };
  const full = await lab.failure("guest_copy_to", tooSmall);
  assert.deepEqual([full.code, full.context.reason], ["hv.io", "disk_full"]);
  const left = await lab.exec("deb", ["sh", "-c", "find /srv /tmp /run/lock -name '*hvlab*'; ls '/srv/a b'"]);
  assert.equal(left.stdout, "folder\n");
  assert.deepEqual([...Deno.readDirSync(`${lab.root}/new`)].map(({ name }) => name), ["back"]);
}

async function overSsh(lab: Lab): Promise<void> {
  const ssh = { vm: "deb", channel: "ssh" };
  const { processes, channel } = GuestProcesses.parse(
    await lab.call("guest_processes", { ...ssh, match: "systemd-journald" }),
  );
  assert.deepEqual([processes.length, channel], [1, "ssh"]);
  await Deno.writeFile(`${lab.root}/big`, new Uint8Array(9 * 1024 * 1024).map((_, at) => at * 7));
  const sent = await lab.call("guest_copy_to", {
    vm: "deb",
    source: `${lab.root}/big`,
    destination: "/srv/big",
  });
  assert.deepEqual([sent.carried_by, sent.size_bytes], ["disk", 9 * 1024 * 1024]);
  const back = { vm: "deb", source: "/srv/big", destination: `${lab.root}/big-back` };
  const received = await lab.call("guest_copy_from", back);
  assert.deepEqual([received.channel, received.sha256], ["ssh", sent.sha256]);
}

async function failedBoot(lab: Lab): Promise<void> {
  const result = JSON.stringify({
    v1: { datasource: "NoCloud", errors: ["('scripts_user', RuntimeError('3 failed'))"] },
  });
  await lab.exec("deb", ["sh", "-c", 'printf %s "$1" >/run/cloud-init/result.json', "sh", result]);
  const failure = await lab.failure("vm_wait", { vm: "deb", until: "login" });
  assert.equal(failure.code, "hv.job_failed");
  assert.match(failure.message, /scripts_user/);
}
