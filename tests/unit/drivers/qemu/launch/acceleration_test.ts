import assert from "node:assert/strict";
import {
  distrustHardware,
  isAcceleratorFailure,
  knownAcceleration,
  probeAcceleration,
} from "../../../../../src/drivers/qemu/launch/acceleration.ts";
import {
  accelerator,
  ACCELERATOR_NAMES,
  showAccelerator,
} from "../../../../../src/drivers/qemu/launch/accelerators.ts";
import { BOOT_SECTOR_EXIT_CODE, bootDisk } from "../../../../../src/drivers/qemu/launch/boot_sector.ts";
import { diagnose, parseFreeBytes } from "../../../../../src/drivers/qemu/diagnose.ts";
import { launchFailure } from "../../../../../src/drivers/qemu/launch/errors.ts";
import {
  parseMachine,
  parseVersion,
  readQemuProgram,
} from "../../../../../src/drivers/qemu/launch/program.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

const WITH_VMX = { stdout: "processor : 0\nflags\t\t: fpu vmx sse\n\nprocessor : 1\nflags : fpu vmx\n" };
const WITHOUT = { stdout: "processor : 0\nflags\t\t: fpu pvm vmxish svmish sse\n" };
const KVM_INTEL = { stdout: "kvm_intel 400000 0 - Live 0x0\nkvm 1200000 1 kvm_intel, Live 0x0\n" };
const KVM_PVM = { stdout: "kvm_pvm 400000 0 - Live 0x0\nkvm 1200000 1 kvm_pvm, Live 0x0\n" };

Deno.test("a processor without vmx and svm is emulation, and no guest is started to find out", () =>
  withQemu(async ({ host, context }) => {
    host.processes.expect("cat", ["/proc/cpuinfo"], WITHOUT);
    const found = await probeAcceleration(context);
    assert.equal(found.accelerator, "tcg");
    assert.match(found.reason, /neither vmx nor svm/);
    assert.deepEqual(await probeAcceleration(context), found, "the second call asks nobody");
  }));

Deno.test("another KVM than the processor's own proves nothing", () =>
  withQemu(async ({ host, context }) => {
    host.processes.expect("cat", ["/proc/cpuinfo"], WITH_VMX);
    host.processes.expect("cat", ["/proc/modules"], KVM_PVM);
    const found = await probeAcceleration(context);
    assert.deepEqual([found.accelerator, found.reason], ["tcg", "The kernel module kvm_intel is not loaded"]);
  }));

Deno.test("KVM is used when it has run a boot sector", () =>
  withQemu(async ({ host, context }) => {
    host.processes.expect("cat", ["/proc/cpuinfo"], WITH_VMX);
    host.processes.expect("cat", ["/proc/modules"], KVM_INTEL);
    host.processes.expect("qemu-system-x86_64", /-accel kvm .*isa-debug-exit/, {
      code: BOOT_SECTOR_EXIT_CODE,
    });
    assert.equal((await probeAcceleration(context)).accelerator, "kvm");
    assert.equal((await knownAcceleration(context))?.accelerator, "kvm");
  }));

Deno.test("a KVM that fails or does not end in time is not used, and the reason is kept", () =>
  withQemu(async ({ host, context }) => {
    const late = new DOMException("late", "TimeoutError");
    const answers = [{ code: 1, stderr: "Could not access KVM kernel module: Permission denied\n" }, {
      failure: late,
    }];
    for (const [index, answer] of answers.entries()) {
      context.findings.values.clear();
      host.processes.expect("cat", ["/proc/cpuinfo"], WITH_VMX);
      host.processes.expect("cat", ["/proc/modules"], KVM_INTEL);
      host.processes.expect("qemu-system-x86_64", /kvm/, answer);
      const { accelerator, reason } = await probeAcceleration(context);
      assert.equal(accelerator, "tcg");
      assert.match(reason, [/Permission denied/, /not done within 700 ms/][index] ?? /never/);
    }
  }));

Deno.test("a KVM that failed a guest is not asked again", () =>
  withQemu(async ({ context }) => {
    context.findings.values.set("qemu/acceleration", { accelerator: "kvm", reason: "it was fine" });
    await distrustHardware(context, "A guest stopped");
    assert.deepEqual(await probeAcceleration(context), { accelerator: "tcg", reason: "A guest stopped" });
  }));

Deno.test("a start that fails in KVM is told from every other failure", () => {
  const end = { code: null, signal: "SIGABRT" };
  const words = "qemu-system-x86_64: ../../target/i386/kvm/kvm.c:3183: kvm_buf_set_msrs: Assertion failed.";
  assert.equal(isAcceleratorFailure("kvm", launchFailure(words, end, {})), true);
  assert.equal(isAcceleratorFailure("kvm", launchFailure("qemu: invalid kernel header", end, {})), false);
  assert.equal(isAcceleratorFailure("kvm", launchFailure("", end, {})), false);
  assert.equal(isAcceleratorFailure("kvm", new Error("kvm")), false);
});

for (const [os, name] of [["darwin", "hvf"], ["windows", "whpx"]] as const) {
  Deno.test(`${name} of ${os} is taken when it runs a boot sector, and is said to be untested`, () =>
    withQemu(async ({ host, context, scope }) => {
      host.os = os;
      host.processes.expect("qemu-system-x86_64", new RegExp(`-accel ${name} .*isa-debug-exit`), {
        code: BOOT_SECTOR_EXIT_CODE,
      });
      assert.equal((await probeAcceleration(context)).accelerator, name);
      const findings = await diagnose(context, scope.signal);
      const found = findings.find(({ check }) => check === "acceleration");
      assert.equal(found?.status, "warning");
      assert.match(found?.finding ?? "", new RegExp(`${name}.*has not been tested with it`, "i"));
      assert.equal(showAccelerator(name), `${name} (untested)`);
    }));

  Deno.test(`a ${os} whose ${name} fails emulates, and the reason is kept`, () =>
    withQemu(async ({ host, context }) => {
      host.os = os;
      host.processes.expect("qemu-system-x86_64", new RegExp(`-accel ${name} `), {
        code: 1,
        stderr: `qemu-system-x86_64: -accel ${name}: invalid accelerator ${name}\n`,
      });
      const { accelerator, reason } = await probeAcceleration(context);
      assert.equal(accelerator, "tcg");
      assert.match(reason, new RegExp(`invalid accelerator ${name}`));
    }));
}

Deno.test("only a failure of the accelerator that was used counts as one", () => {
  const end = { code: 1, signal: null };
  const words = "qemu-system-x86_64: WHPX: Failed to emulate MMIO access with EmulatorReturnStatus: 2";
  assert.equal(isAcceleratorFailure("whpx", launchFailure(words, end, {})), true);
  assert.equal(isAcceleratorFailure("hvf", launchFailure(words, end, {})), false);
  assert.equal(isAcceleratorFailure("tcg", launchFailure(words, end, {})), false);
});

Deno.test("each accelerator says which processor its guests get", () => {
  const cpus = ACCELERATOR_NAMES.map((name) => [name, accelerator(name).cpu, showAccelerator(name)]);
  assert.deepEqual(cpus, [
    ["kvm", "host,hv-crash", "kvm"],
    ["hvf", "host", "hvf (untested)"],
    ["whpx", "qemu64", "whpx (untested)"],
    ["tcg", "max", "tcg"],
  ]);
});

Deno.test("the boot sector is one that a BIOS takes", () => {
  const disk = bootDisk();
  assert.deepEqual([disk.length, disk[510], disk[511]], [1024 * 1024, 0x55, 0xaa]);
});

Deno.test("QEMU's facts are read from its own words", () => {
  assert.equal(parseVersion("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\nCopyright"), "7.2.22");
  assert.equal(parseVersion("QEMU emulator version 10.1.0"), "10.1.0");
  const help = "Supported machines are:\npc   Standard PC (alias of pc-i440fx-7.2)\n" +
    "q35                  Standard PC (Q35 + ICH9, 2009) (alias of pc-q35-7.2)\npc-q35-7.1 Standard PC\n";
  assert.equal(parseMachine(help), "pc-q35-7.2");
  assert.throws(() => parseMachine("none"), /q35/);
  assert.throws(() => parseVersion("busybox"), /version/);
});

Deno.test("QEMU is asked once for each binary, and again when the binary has changed", () =>
  withQemu(async ({ host, context }) => {
    const path = `${host.root}/qemu-system-x86_64`;
    await Deno.writeTextFile(path, "one");
    host.processes.places.set("qemu-system-x86_64", path);
    const answer = (version: string): void => {
      host.processes.expect("qemu-system-x86_64", ["--version"], {
        stdout: `QEMU emulator version ${version}`,
      });
      const stdout = "q35 Standard PC (alias of pc-q35-7.2)\n";
      host.processes.expect("qemu-system-x86_64", ["-machine", "help"], { stdout });
    };
    answer("7.2.22");
    assert.equal((await readQemuProgram(context, { remember: true })).version, "7.2.22");
    assert.equal((await readQemuProgram(context, { remember: true })).version, "7.2.22");
    await Deno.writeTextFile(path, "another size");
    answer("9.0.0");
    assert.equal((await readQemuProgram(context, { remember: false })).version, "9.0.0");
    answer("9.0.0");
    await readQemuProgram(context, { remember: false });
  }));

Deno.test("a missing QEMU is unavailable with the line that installs it", () =>
  withQemu(async ({ context }) => {
    const failure = await failureOf("hv.unavailable", () => readQemuProgram(context, { remember: true }));
    assert.match(failure.hint ?? "", /apt-get install qemu-system-x86/);
    assert.equal(failure.retryable, false);
  }));

Deno.test("diagnosing names every lack with its fix and never throws for one", () =>
  withQemu(async ({ host, context, scope }) => {
    host.processes.expect("cat", ["/proc/cpuinfo"], WITHOUT);
    host.processes.expect("df", ["-Pk", "--", host.root], {
      stdout: "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 100 90 10 90% /\n",
    });
    const findings = await diagnose(context, scope.signal);
    const found = new Map(findings.map((finding) => [finding.check, finding]));
    assert.equal(found.get("qemu")?.status, "broken");
    assert.match(found.get("qemu")?.fix ?? "", /apt-get install/);
    assert.equal(found.get("acceleration")?.status, "warning");
    assert.match(found.get("programs")?.finding ?? "", /setpriv is missing/);
    assert.equal(found.get("runtime folder")?.status, "ok");
    assert.equal(found.get("disk space")?.status, "broken", "10 KiB are as good as none");
    for (const { status, fix } of findings) assert.equal(status === "ok", fix === undefined);
    assert.equal(await host.files.stat(`${host.root}/run`), undefined, "it only looks");
  }));

for (
  const [free, status] of [[16 * 1024 - 1, "broken"], [16 * 1024, "warning"], [1024 * 1024, "ok"]] as const
) {
  Deno.test(`${free} KiB of free space are ${status}`, () =>
    withQemu(async ({ host, context, scope }) => {
      host.processes.expect("cat", ["/proc/cpuinfo"], WITHOUT);
      host.processes.expect("df", ["-Pk", "--", host.root], {
        stdout: `Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 99999999 9 ${free} 9% /\n`,
      });
      const space = (await diagnose(context, scope.signal)).find(({ check }) => check === "disk space");
      assert.deepEqual([space?.status, space?.fix === undefined], [status, status === "ok"], space?.finding);
    }));
}

Deno.test("free space is read from df, whatever the device is called", () => {
  const head = "Filesystem     1024-blocks  Used Available Capacity Mounted on\n";
  assert.equal(parseFreeBytes(`${head}/dev/sda1  1000 500 400 56% /\n`), 400 * 1024);
  assert.equal(parseFreeBytes(`${head}my share 12 1000 500 300 56% /mnt/my share\n`), 300 * 1024);
  assert.equal(parseFreeBytes("df: no such file\n"), undefined);
});
