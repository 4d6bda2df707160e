/** Making VMs of all kinds with real machines: discs, blank disks, firmware, the user's own kernel. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { bootDisc } from "../support/boot_disc.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { findTinyImage } from "../support/tiny_image.ts";

const HAS_OVMF = existsSync("/usr/share/OVMF/OVMF_CODE_4M.ms.fd");

async function inGuest({ driver, scope }: QemuLab, id: string, script: string): Promise<string> {
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  assert.ok(channel !== undefined);
  await channel.ping(scope.signal);
  let out = "";
  const decoder = new TextDecoder();
  await channel.exec(
    { argv: ["sh", "-c", script] },
    {
      stdout: (bytes) => {
        out += decoder.decode(bytes, { stream: true });
        return Promise.resolve();
      },
      stderr: () => Promise.resolve(),
    },
    scope.signal,
  );
  return out;
}

/** Waits until the guest has written a text to its first serial port. */
async function serialText({ host, state, scope }: QemuLab, id: string, wanted: RegExp): Promise<void> {
  for (;;) {
    const text = await host.files.readTextIfPresent(`${state.vm(id)}/serial.log`);
    if (wanted.test(text ?? "")) return;
    await host.clock.sleep(50, scope.signal);
  }
}

qemuTest("a blank disk is passed over and the disc in the drive boots", async (lab) => {
  const { driver, scope, state } = lab;
  const iso = `${state.root}/a disc, of mine.iso`;
  await Deno.writeFile(iso, bootDisc("booted from the disc"));
  const id = await driver.vms.create({ name: "web", memory_mb: 64, cpus: 1, disk_size_mb: 8, iso }, scope);
  await driver.vms.start(id, scope);
  await serialText(lab, id, /booted from the disc/);
  await driver.vms.stop(id, "off", scope);
  await Deno.remove(iso);
  const failure = await failureOf("hv.job_failed", () => driver.vms.start(id, scope));
  assert.match(String(failure.context.qemu), /a disc, of mine\.iso/);
  await driver.vms.remove(id, scope);
});

qemuTest("what does not go together is refused and leaves nothing", async (lab) => {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const base = { name: "web", memory_mb: 64, cpus: 1 };
  const modules = state.root;
  for (
    const spec of [
      base,
      { ...base, image: "blank", disk_size_mb: 8 },
      { ...base, full_copy: true, disk_size_mb: 8 },
      { ...base, image: "blank", kernel: { append: "x" } },
      { ...base, image: "blank", kernel: { kernel: findTinyImage()?.kernel ?? "", modules } },
      { ...base, image: "tiny", kernel: { modules: `${state.root}/blank.img` } },
    ]
  ) await failureOf("hv.usage", () => driver.vms.create(spec, scope));
  await failureOf("hv.bad_image", () => driver.vms.create({ ...base, iso: state.root }, scope));
  await failureOf(
    "hv.bad_image",
    () => driver.vms.create({ ...base, image: "tiny", kernel: { kernel: `${state.root}/blank.img` } }, scope),
  );
  await failureOf(
    "hv.not_found",
    () => driver.vms.create({ ...base, image: "tiny", kernel: { kernel: state.root } }, scope),
  );
  assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
  assert.deepEqual(await driver.vms.orphans(scope.signal), []);
});

qemuTest("a full copy needs its image no more", async (lab) => {
  const { driver, scope, state, host } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024).fill(7));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const disk = await driver.vms.create(lab.vm({ name: "disk", image: "blank", full_copy: true }), scope);
  const kernel = await driver.vms.create(lab.vm({ name: "kernel", full_copy: true }), scope);
  await Deno.remove(state.images, { recursive: true });
  const info = await host.processes.run("qemu-img", [
    "info",
    "--output=json",
    `${state.vm(disk)}/disk.qcow2`,
  ]);
  assert.equal(JSON.parse(new TextDecoder().decode(info.stdout))["backing-filename"], undefined);
  for (const id of [disk, kernel]) await driver.vms.start(id, scope);
  assert.equal(await inGuest(lab, kernel, "echo here"), "here\n");
  for (const id of [disk, kernel]) await driver.vms.remove(id, scope);
});

qemuTest(
  "the user's own kernel runs with more words and modules, as a sandbox and as a VM",
  async (lab) => {
    const { driver, scope, state } = lab;
    const tree = `${state.root}/linux, mine`;
    await Deno.mkdir(`${tree}/arch/x86/boot`, { recursive: true });
    await Deno.copyFile(findTinyImage()?.kernel ?? "", `${tree}/arch/x86/boot/bzImage`);
    const modules = `${state.root}/modules`;
    await Deno.mkdir(`${modules}/lib/modules/9.9/kernel`, { recursive: true });
    await Deno.writeTextFile(`${modules}/lib/modules/9.9/kernel/x.ko`, "a module\n");
    await Deno.symlink("/", `${modules}/lib/modules/9.9/build`);
    const kernel = { kernel: tree, append: "marked=1", modules };
    const id = await driver.vms.create(lab.vm({ kernel, network: false, disk_size_mb: 8 }), scope);
    const box = await driver.sandboxes?.create(lab.sandbox({ kernel }), scope);
    assert.ok(box !== undefined);
    await Deno.remove(tree, { recursive: true });
    await driver.vms.start(id, scope);
    const look = "cat /proc/cmdline; cd /lib/modules/9.9; find . | sort; cat kernel/x.ko; ls /tmp";
    for (const each of [id, box]) {
      const [words = "", ...files] = (await inGuest(lab, each, look)).split("\n");
      assert.match(words, /console=ttyS0.* marked=1$/, "the image's own words come first");
      assert.deepEqual(files, [".", "./kernel", "./kernel/x.ko", "a module", ""]);
    }
    assert.equal(
      await inGuest(lab, id, "ls /sys/class/net /sys/block | tr '\\n' ' '"),
      "/sys/block: vda  /sys/class/net: lo ",
    );
    for (const each of [id, box]) await driver.vms.remove(each, scope);
  },
);

qemuTest("UEFI boots, keeps its variables, and is part of checkpoints and copies", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await driver.vms.create(lab.vm({ firmware: "uefi", memory_mb: 256 }), scope);
  assert.equal((await driver.vms.get(id, scope.signal)).firmware, "uefi");
  await driver.vms.start(id, scope);
  assert.equal(await inGuest(lab, id, "cat /sys/firmware/efi/fw_platform_size"), "64\n");
  const checkpoint = await driver.checkpoints?.create(id, { name: "one", memory_state: true }, scope);
  await driver.checkpoints?.restore(id, checkpoint ?? "", scope);
  assert.deepEqual((await driver.checkpoints?.list(id, scope.signal))?.warnings, []);
  const clone = await driver.copies?.clone(id, "web2", scope);
  assert.equal(clone?.disks, "power_cut");
  assert.ok(existsSync(`${state.vm(clone?.id ?? "")}/uefi-variables.qcow2`));
  for (const each of [id, clone?.id ?? ""]) await driver.vms.remove(each, scope);
}, HAS_OVMF);

qemuTest("Secure Boot is on from the first boot where it is asked for", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm({ firmware: "uefi_secure", memory_mb: 256 }), scope);
  await driver.vms.start(id, scope);
  const log = await inGuest(lab, id, "dmesg | grep -i 'secure boot'");
  assert.match(log, /secureboot: Secure boot enabled/);
  await driver.vms.remove(id, scope);
}, HAS_OVMF);
