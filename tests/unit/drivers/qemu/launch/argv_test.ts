import assert from "node:assert/strict";
import fc from "fast-check";
import { machineArguments } from "../../../../../src/drivers/qemu/launch/argv.ts";
import type { MachinePlan } from "../../../../../src/drivers/qemu/launch/machine_plan.ts";
import { escapeOption } from "../../../../../src/drivers/qemu/launch/words.ts";
import { readIdentity } from "../../../../../src/drivers/qemu/identity.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";

const PLAN: MachinePlan = {
  uuid: "0123abcd-4567-4890-abcd-ef0123456789",
  name: "web",
  machine: "pc-q35-7.2",
  accelerator: "tcg",
  memory_mb: 256,
  cpus: 2,
  boot: { kind: "kernel", kernel: "/i/vmlinuz", initrd: "/i/initrd", append: "quiet a,b" },
  runtime: new RuntimeFolder("/run/hvlab/0123abcd4567"),
  serialLog: "/state/vms/x/serial.log",
  confined: true,
};

/** The values that follow a flag, in order. */
function valuesOf(argv: readonly string[], flag: string): string[] {
  return argv.flatMap((word, index) => (word === flag ? [argv[index + 1] ?? ""] : []));
}

/** Reads an option list as QEMU does: a comma ends a value, two are one. */
function readOptions(text: string): string[] {
  const PLACEHOLDER = "\u{10FFFF}";
  return text.replaceAll(",,", PLACEHOLDER).split(",").map((value) => value.replaceAll(PLACEHOLDER, ","));
}

Deno.test("a machine is told everything that later calls need of it", () => {
  const argv = machineArguments(PLAN);
  assert.deepEqual(argv.slice(0, 2), ["-uuid", PLAN.uuid]);
  assert.deepEqual(valuesOf(argv, "-machine"), ["pc-q35-7.2,memory-backend=ram"]);
  assert.deepEqual(valuesOf(argv, "-accel"), ["tcg"]);
  assert.deepEqual(valuesOf(argv, "-cpu"), ["max"]);
  assert.deepEqual(valuesOf(argv, "-m"), ["size=256M"]);
  assert.deepEqual(valuesOf(argv, "-smp"), ["2"]);
  assert.deepEqual(valuesOf(argv, "-action"), ["panic=pause"]);
  assert.deepEqual(valuesOf(argv, "-pidfile"), ["/run/hvlab/0123abcd4567/pid"]);
  assert.match(valuesOf(argv, "-sandbox")[0] ?? "", /^on,.*spawn=deny/);
  assert.deepEqual(valuesOf(argv, "-mon"), [
    "chardev=monitor-keeper,mode=control",
    "chardev=monitor-calls,mode=control",
    "chardev=monitor-rescue,mode=control",
  ]);
  assert.ok(argv.includes("-nodefaults") && argv.includes("-no-user-config"));
  const devices = valuesOf(argv, "-device");
  assert.equal(devices.filter((device) => device.startsWith("pcie-root-port")).length, 4);
  for (const name of ["VGA", "virtio-tablet-pci", "pvpanic-pci", "vmcoreinfo"]) {
    assert.ok(devices.includes(name), name);
  }
  assert.ok(devices.includes("virtserialport,bus=ports.0,chardev=agent,name=org.qemu.guest_agent.0"));
  assert.ok(devices.includes("virtserialport,bus=ports.0,chardev=data,name=hvlab.data.0"));
  assert.deepEqual(valuesOf(argv, "-kernel"), ["/i/vmlinuz"]);
  assert.deepEqual(valuesOf(argv, "-initrd"), ["/i/initrd"]);
  assert.deepEqual(valuesOf(argv, "-append"), ["quiet a,b"]);
});

Deno.test("a drive is there with a disc or without, and a disc is read as it is", () => {
  const empty = machineArguments({ ...PLAN, dvd: {} });
  assert.ok(valuesOf(empty, "-device").includes("ide-cd,id=disc-drive-0,bus=ide.0,bootindex=1"));
  assert.deepEqual(valuesOf(empty, "-blockdev"), []);
  const full = machineArguments({ ...PLAN, dvd: { disc: "/i/json:{},x.iso" } });
  assert.ok(valuesOf(full, "-device").includes("ide-cd,id=disc-drive-0,bus=ide.0,drive=disc-0,bootindex=1"));
  assert.deepEqual(JSON.parse(valuesOf(full, "-blockdev")[0] ?? ""), {
    "driver": "raw",
    "node-name": "disc-0",
    "read-only": true,
    "file": { "driver": "file", "filename": "/i/json:{},x.iso", "read-only": true },
  });
  assert.ok(valuesOf(machineArguments(PLAN), "-device").every((device) => !device.startsWith("ide-cd")));
});

Deno.test("a second serial port listens where the user wants it", () => {
  const argv = machineArguments({ ...PLAN, serialSocket: "/run/a,b" });
  assert.equal(valuesOf(argv, "-serial").at(-1), "chardev:serial-1");
  assert.ok(valuesOf(argv, "-chardev").includes("socket,id=serial-1,path=/run/a,,b,server=on,wait=off"));
  assert.equal(valuesOf(machineArguments(PLAN), "-serial").length, 1);
});

Deno.test("a watchdog is there when asked for, and QEMU is told what it does in its own words", () => {
  const told = (["reset", "pause", "off", "nmi"] as const).map((watchdog) => {
    const argv = machineArguments({ ...PLAN, watchdog });
    assert.ok(valuesOf(argv, "-device").includes("i6300esb,id=watchdog-0"));
    return valuesOf(argv, "-action");
  });
  assert.deepEqual(told, [
    ["panic=pause", "watchdog=reset"],
    ["panic=pause", "watchdog=pause"],
    ["panic=pause", "watchdog=poweroff"],
    ["panic=pause", "watchdog=inject-nmi"],
  ]);
  assert.ok(!machineArguments(PLAN).some((word) => word.includes("watchdog") || word.includes("i6300esb")));
});

Deno.test("where QEMU cannot lock itself in it is not told to", () => {
  assert.ok(!machineArguments({ ...PLAN, confined: false }).includes("-sandbox"));
});

Deno.test("KVM brings the host's processor, with the registers in which Windows reports a crash", () => {
  const argv = machineArguments({ ...PLAN, accelerator: "kvm" });
  assert.deepEqual([valuesOf(argv, "-accel"), valuesOf(argv, "-cpu")], [["kvm"], ["host,hv-crash"]]);
});

Deno.test("a disk goes in as JSON, so that no character of its path means anything", () => {
  const path = `/a,b =c%20d/"q"/base,1.qcow2`;
  const argv = machineArguments({ ...PLAN, boot: { kind: "disk", path, format: "qcow2" } });
  const [blockdev = ""] = valuesOf(argv, "-blockdev");
  const disk: { driver: string; file: { filename: string } } = JSON.parse(blockdev);
  assert.equal(disk.driver, "qcow2");
  assert.equal(disk.file.filename, path);
  assert.ok(!argv.includes("-kernel"));
});

Deno.test("no name and no path can add an option", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (name, path) => {
    const runtime = new RuntimeFolder(`/run/${path}`);
    const argv = machineArguments({ ...PLAN, name, runtime, serialLog: `/s/${path}` });
    assert.deepEqual(readOptions(valuesOf(argv, "-name")[0] ?? ""), [`guest=${name}`]);
    const chardevs = valuesOf(argv, "-chardev").map(readOptions);
    assert.deepEqual(chardevs.map((options) => options.length), [5, 5, 5, 7, 5, 5]);
    assert.equal(chardevs[1]?.[2], `path=${runtime.monitor("calls")}`);
    assert.equal(chardevs[3]?.[2], `path=${runtime.serial}`);
    assert.equal(chardevs[3]?.[5], `logfile=/s/${path}`);
    assert.equal(argv.length, machineArguments(PLAN).length);
  }));
});

Deno.test("escaping survives QEMU's reading", () => {
  fc.assert(fc.property(fc.string(), (value) => assert.deepEqual(readOptions(escapeOption(value)), [value])));
});

Deno.test("no name can make a process look like another VM's", () => {
  const other = "ffffffff-ffff-4fff-8fff-ffffffffffff";
  const name = `x -uuid ${other} -name guest=y`;
  const words = ["/opt/my qemu/qemu-system-x86_64", ...machineArguments({ ...PLAN, name })].join(" ");
  assert.equal(readIdentity(words), `vm-${PLAN.uuid}`);
});

Deno.test("a shared folder goes in by both ways, and its memory is one that others can reach", () => {
  const folder = "/a,b";
  const share = { tag: "hvlab-share-0", socket: "/run/x/share-0", folder, read_only: true };
  const argv = machineArguments({ ...PLAN, shares: [share] });
  assert.deepEqual(valuesOf(argv, "-object")[0], "memory-backend-memfd,id=ram,size=256M,share=on");
  assert.ok(valuesOf(argv, "-chardev").includes("socket,id=hvlab-share-0,path=/run/x/share-0"));
  const [ninep = ""] = valuesOf(argv, "-fsdev");
  assert.deepEqual(readOptions(ninep), [
    "local",
    "id=hvlab-share-0-9p",
    `path=${folder}`,
    "security_model=none",
    "readonly=on",
  ]);
  const devices = valuesOf(argv, "-device");
  assert.ok(devices.includes("vhost-user-fs-pci,chardev=hvlab-share-0,tag=hvlab-share-0"));
  assert.ok(devices.includes("virtio-9p-pci,fsdev=hvlab-share-0-9p,mount_tag=hvlab-share-0"));
});

Deno.test("with 9p alone a machine's memory stays its own", () => {
  const argv = machineArguments({ ...PLAN, shares: [{ tag: "t", folder: "/a", read_only: false }] });
  assert.deepEqual(valuesOf(argv, "-object")[0], "memory-backend-ram,id=ram,size=256M");
  assert.ok(!valuesOf(argv, "-fsdev")[0]?.includes("readonly"));
  assert.ok(!argv.some((word) => word.includes("vhost-user")));
});

Deno.test("a TPM is reached by the socket of its program", () => {
  const argv = machineArguments({ ...PLAN, tpm: "/run/x/tpm" });
  assert.ok(valuesOf(argv, "-chardev").includes("socket,id=tpm,path=/run/x/tpm"));
  assert.deepEqual(valuesOf(argv, "-tpmdev"), ["emulator,id=tpm-0,chardev=tpm"]);
  assert.ok(valuesOf(argv, "-device").includes("tpm-tis,tpmdev=tpm-0"));
});
