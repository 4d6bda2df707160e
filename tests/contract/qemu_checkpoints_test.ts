/** Checkpoints, saved and paused machines on real QEMU: their disks, what blocks them, what goes wrong. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { CheckpointAbilities } from "../../src/drivers/checkpoint_abilities.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import { disksOf, memoryFile, memoryTags } from "../../src/drivers/qemu/checkpoints/files.ts";
import { readSnapshots } from "../../src/drivers/qemu/checkpoints/snapshot_table.ts";
import { VmMonitor } from "../../src/drivers/qemu/monitor/vm_monitor.ts";
import type { QemuContext } from "../../src/drivers/qemu/context.ts";
import { readRecord } from "../../src/drivers/qemu/records.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const DISK_BYTES = 8 * 1024 * 1024;
const MEMORY = { memory_state: true };
const DISKS = { memory_state: false };

function contextOf({ host, state, findings }: QemuLab): QemuContext {
  return { host, state, findings, config: DEFAULT_CONFIG };
}

function checkpointsOf({ driver }: QemuLab): CheckpointAbilities {
  assert.ok(driver.checkpoints !== undefined);
  return driver.checkpoints;
}

/** A VM that boots a blank disk: it comes no further than its firmware, which is enough for its disk. */
async function diskVm(lab: QemuLab): Promise<string> {
  const { driver, scope, state } = lab;
  const blank = `${state.root}/blank.img`;
  await Deno.writeFile(blank, new Uint8Array(DISK_BYTES));
  await driver.images?.import({ name: "blank", disk: blank }, scope);
  return await driver.vms.create(lab.vm({ image: "blank", memory_mb: 32 }), scope);
}

async function diskPath(lab: QemuLab, id: string): Promise<string> {
  const [disk] = await disksOf(contextOf(lab), id);
  assert.ok(disk !== undefined);
  return disk.path;
}

async function diskIo({ host }: QemuLab, path: string, command: string): Promise<string> {
  // As JSON the path may hold what qemu-io would read as its own syntax.
  const file = `json:${JSON.stringify({ driver: "qcow2", file: { driver: "file", filename: path } })}`;
  const finished = await host.processes.run("qemu-io", ["-c", command, file]);
  return new TextDecoder().decode(finished.stdout) + new TextDecoder().decode(finished.stderr);
}

async function fill(lab: QemuLab, id: string, pattern: number): Promise<void> {
  assert.match(await diskIo(lab, await diskPath(lab, id), `write -P ${pattern} 0 64k`), /wrote 65536/);
}

async function assertFilledWith(lab: QemuLab, id: string, pattern: number): Promise<void> {
  const words = await diskIo(lab, await diskPath(lab, id), `read -P ${pattern} 0 64k`);
  assert.match(words, /read 65536/);
  assert.doesNotMatch(words, /Pattern verification failed/);
}

/** No memory and no snapshot of any kind is left. */
async function assertNothingKept(lab: QemuLab, id: string): Promise<void> {
  assert.deepEqual(await memoryTags(contextOf(lab), id), []);
  for (const { path } of await disksOf(contextOf(lab), id)) {
    assert.deepEqual(await readSnapshots(lab.host.files, path), []);
  }
}

async function stateOf({ driver, scope }: QemuLab, id: string): Promise<string> {
  return (await driver.vms.get(id, scope.signal)).state;
}

qemuTest("a disk goes back to a checkpoint that was made while its VM was off", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await fill(lab, id, 1);
  const one = await checkpoints.create(id, { name: "one", ...DISKS }, scope);
  await fill(lab, id, 2);
  const two = await checkpoints.create(id, { name: "two", ...DISKS }, scope);
  const losses = await checkpoints.losses(id, one, scope.signal);
  assert.deepEqual(losses.map(({ path }) => path), [await diskPath(lab, id)]);
  await checkpoints.restore(id, one, scope);
  assert.equal(await stateOf(lab, id), "off");
  await assertFilledWith(lab, id, 1);
  await checkpoints.restore(id, two, scope);
  await assertFilledWith(lab, id, 2);
  for (const checkpoint of [one, two]) await checkpoints.remove(id, checkpoint, scope);
  await assertFilledWith(lab, id, 2);
  await assertNothingKept(lab, id);
  await driver.vms.remove(id, scope);
});

qemuTest(
  "a checkpoint without memory is made and deleted while the VM runs, and brings it back off",
  async (lab) => {
    const { driver, scope } = lab;
    const checkpoints = checkpointsOf(lab);
    const id = await diskVm(lab);
    await fill(lab, id, 1);
    await driver.vms.start(id, scope);
    const live = await checkpoints.create(id, { name: "live", ...DISKS }, scope);
    const doomed = await checkpoints.create(id, { name: "doomed", ...DISKS }, scope);
    await checkpoints.remove(id, doomed, scope);
    const { checkpoints: [seen, ...others] } = await checkpoints.list(id, scope.signal);
    assert.deepEqual([seen?.id, seen?.restores_to, seen?.current, others.length], [live, "off", true, 0]);
    await driver.vms.stop(id, "off", scope);
    await fill(lab, id, 2);
    await driver.vms.start(id, scope);
    assert.match(JSON.stringify(await checkpoints.losses(id, live, scope.signal)), /memory of the machine/);
    await checkpoints.restore(id, live, scope);
    assert.equal(await stateOf(lab, id), "off");
    await assertFilledWith(lab, id, 1);
    await driver.vms.remove(id, scope);
  },
);

qemuTest(
  "a checkpoint with memory brings its disks back too, in another process and of another size",
  async (lab) => {
    const { driver, scope } = lab;
    const checkpoints = checkpointsOf(lab);
    const id = await diskVm(lab);
    await fill(lab, id, 1);
    await driver.vms.start(id, scope);
    const one = await checkpoints.create(id, { name: "one", ...MEMORY }, scope);
    await driver.vms.stop(id, "off", scope);
    await fill(lab, id, 2);
    const record = `${lab.state.vm(id)}/vm.json`;
    const larger = readRecord(await Deno.readTextFile(record), id);
    await Deno.writeTextFile(record, JSON.stringify({ ...larger, memory_mb: 48 }));
    await driver.vms.start(id, scope);
    await checkpoints.restore(id, one, scope);
    const restored = await driver.vms.get(id, scope.signal);
    assert.deepEqual([restored.state, restored.memory_mb], ["running", 32]);
    await driver.vms.stop(id, "off", scope);
    await assertFilledWith(lab, id, 1);
    await driver.vms.remove(id, scope);
  },
);

qemuTest("a VM without disks has no checkpoint without memory, and is told what it can have", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  for (const prepare of [() => Promise.resolve(), () => driver.vms.start(id, scope)]) {
    await prepare();
    const make = checkpointsOf(lab).create(id, { name: "one", ...DISKS }, scope);
    const failure = await failureOf("hv.unsupported", () => make);
    assert.match(failure.hint ?? "", /--memory-state/);
  }
  await driver.vms.remove(id, scope);
});

qemuTest("what blocks a checkpoint is named before the guest stands still", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  const monitor = new VmMonitor(
    contextOf(lab),
    readRecord(await Deno.readTextFile(`${lab.state.vm(id)}/vm.json`), id),
  );
  const raw = `${lab.state.root}/raw.img`;
  await Deno.writeFile(raw, new Uint8Array(1024 * 1024));
  await monitor.tell("blockdev-add", {
    "driver": "raw",
    "node-name": "raw-disk",
    "file": { driver: "file", filename: raw },
  });
  await monitor.tell("device_add", {
    driver: "virtio-blk-pci",
    drive: "raw-disk",
    id: "scratch",
    bus: "spare-0",
  });
  for (const options of [MEMORY, DISKS]) {
    const failure = await failureOf(
      "hv.unsupported",
      () => checkpoints.create(id, { name: "x", ...options }, scope),
    );
    assert.match(failure.message, /disk "scratch"/);
  }
  await failureOf("hv.unsupported", () => driver.vms.stop(id, "save", scope));
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.stop(id, "off", scope);
  await driver.vms.start(id, scope);
  await monitor.tell("device_add", { driver: "qemu-xhci", id: "usb", bus: "spare-0" });
  await Deno.mkdir(`${lab.state.root}/shared`);
  await monitor.tell("device_add", {
    driver: "usb-mtp",
    id: "phone",
    bus: "usb.0",
    rootdir: `${lab.state.root}/shared`,
  });
  const failure = await failureOf(
    "hv.unsupported",
    () => checkpoints.create(id, { name: "x", ...MEMORY }, scope),
  );
  assert.match(failure.message, /usb-mtp/);
  assert.match(failure.hint ?? "", /without memory/);
  await checkpoints.create(id, { name: "disks", ...DISKS }, scope);
  assert.equal(await stateOf(lab, id), "running");
  assert.deepEqual(await memoryTags(contextOf(lab), id), []);
  await driver.vms.remove(id, scope);
});

qemuTest("a record without its snapshot is a warning, never a checkpoint", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  const gone = await checkpoints.create(id, { name: "gone", ...MEMORY }, scope);
  const there = await checkpoints.create(id, { name: "there", ...MEMORY }, scope);
  await Deno.remove(memoryFile(contextOf(lab), id, gone));
  const listing = await checkpoints.list(id, scope.signal);
  assert.deepEqual(listing.checkpoints.map((checkpoint) => checkpoint.id), [there]);
  assert.match(listing.warnings.join(), /"gone".*its memory/);
  const failure = await failureOf("hv.io", () => checkpoints.restore(id, gone, scope));
  assert.match(failure.message, /not whole/);
  assert.equal(await stateOf(lab, id), "running");
  await checkpoints.remove(id, gone, scope);
  const after = await checkpoints.list(id, scope.signal);
  assert.deepEqual([after.warnings, after.checkpoints.length], [[], 1]);
  await driver.vms.remove(id, scope);
});

qemuTest(
  "memory finds its machine again after disks were plugged in and out, and changes wait on",
  async (lab) => {
    const { driver, scope } = lab;
    const { devices, nics, disks, serial_ports: ports } = driver;
    const checkpoints = checkpointsOf(lab);
    assert.ok(devices && nics && disks && ports);
    const disk = `${lab.state.root}/attached.img`;
    const disc = `${lab.state.root}/disc.iso`;
    await Deno.writeFile(disk, new Uint8Array(DISK_BYTES));
    await Deno.writeFile(disc, new Uint8Array(64 * 1024));
    const id = await diskVm(lab);
    await driver.vms.start(id, scope);
    await disks.attach(id, disk, { read_only: true }, scope);
    const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
    await devices.setDvd(id, disc, { force: false }, scope);
    await nics.remove(id, "nic-0", scope);
    await ports.set(id, 2, { path: `${lab.state.root}/line` }, scope);
    const before = await seenDevices(lab, id);
    await driver.vms.stop(id, "save", scope);
    await driver.vms.start(id, scope);
    assert.deepEqual(await seenDevices(lab, id), before);
    await checkpoints.restore(id, kept, scope);
    assert.deepEqual(await seenDevices(lab, id), before);
    await driver.vms.remove(id, scope);
  },
);

/** What a VM has now and at its next start, without what is at the other end of a card. */
async function seenDevices({ driver, scope }: QemuLab, id: string): Promise<string[]> {
  const listed = await driver.devices?.list(id, scope.signal) ?? [];
  return listed.map((device) => `${device.id} ${device.now} ${device.next_start}`).sort();
}

qemuTest("a checkpoint's memory goes back into a VM that has booted with its disk since", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const disk = `${lab.state.root}/attached.img`;
  await Deno.writeFile(disk, new Uint8Array(DISK_BYTES));
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  await driver.disks?.attach(id, disk, { read_only: true }, scope);
  const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
  await driver.vms.stop(id, "off", scope);
  const refusal = await failureOf(
    "hv.unsupported",
    () => checkpoints.export(id, kept, `${lab.state.root}/out`, scope),
  );
  assert.match(refusal.message, /attached\.img/);
  await checkpoints.restore(id, kept, scope);
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.stop(id, "off", scope);
  await driver.vms.start(id, scope);
  await checkpoints.restore(id, kept, scope);
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.remove(id, scope);
});

qemuTest(
  "a second serial port that came after a checkpoint keeps nobody from going back to it",
  async (lab) => {
    const { driver, scope } = lab;
    const checkpoints = checkpointsOf(lab);
    const id = await diskVm(lab);
    await driver.vms.start(id, scope);
    const before = await seenDevices(lab, id);
    const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
    await driver.serial_ports?.set(id, 2, { path: `${lab.state.root}/line` }, scope);
    const waiting = await seenDevices(lab, id);
    assert.notDeepEqual(waiting, before);
    await driver.vms.stop(id, "off", scope);
    await checkpoints.restore(id, kept, scope);
    assert.deepEqual(await seenDevices(lab, id), waiting);
    await driver.vms.stop(id, "off", scope);
    await driver.vms.start(id, scope);
    assert.notDeepEqual(await seenDevices(lab, id), waiting);
    await checkpoints.restore(id, kept, scope);
    assert.deepEqual(await seenDevices(lab, id), waiting);
    await driver.vms.remove(id, scope);
  },
);

qemuTest(
  "an exported checkpoint goes on with the cards and the drive that only its memory names",
  async (lab) => {
    const { driver, scope } = lab;
    const checkpoints = checkpointsOf(lab);
    const { devices, nics, copies } = driver;
    assert.ok(devices && nics && copies);
    const disc = `${lab.state.root}/disc.iso`;
    await Deno.writeFile(disc, new Uint8Array(64 * 1024));
    const id = await diskVm(lab);
    await devices.setDvd(id, disc, { force: false }, scope);
    await nics.add(id, { switch: "default" }, scope);
    await driver.vms.start(id, scope);
    const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
    const folder = `${lab.state.root}/out`;
    await checkpoints.export(id, kept, folder, scope);
    await driver.vms.remove(id, scope);
    const copy = await copies.import(folder, "copy", scope);
    await driver.vms.start(copy, scope);
    assert.equal(await stateOf(lab, copy), "running");
    await driver.vms.remove(copy, scope);
  },
);

qemuTest("no memory is saved that needs a disk which the next start does not give", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const disk = `${lab.state.root}/attached.img`;
  await Deno.writeFile(disk, new Uint8Array(DISK_BYTES));
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  await driver.disks?.attach(id, disk, { read_only: true }, scope);
  // As a guest without drivers leaves it, which lets go of nothing.
  const record = `${lab.state.vm(id)}/vm.json`;
  const { disks: _, ...rest } = readRecord(await Deno.readTextFile(record), id);
  await Deno.writeTextFile(record, JSON.stringify(rest));
  const works = [
    () => driver.vms.stop(id, "save", scope),
    () => checkpoints.create(id, { name: "x", ...MEMORY }, scope),
  ];
  for (const work of works) {
    const failure = await failureOf("hv.conflict", work);
    assert.equal(failure.context.path, disk);
  }
  assert.equal(await stateOf(lab, id), "running");
  assert.deepEqual(await memoryTags(contextOf(lab), id), []);
  await driver.disks?.attach(id, disk, { read_only: true }, scope);
  await driver.vms.stop(id, "save", scope);
  await driver.vms.start(id, scope);
  await driver.vms.remove(id, scope);
});

qemuTest("a saved VM that goes back to a checkpoint keeps nothing of what was saved", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
  await driver.vms.stop(id, "save", scope);
  assert.equal((await memoryTags(contextOf(lab), id)).length, 2);
  await checkpoints.restore(id, kept, scope);
  assert.deepEqual(await memoryTags(contextOf(lab), id), [kept]);
  const snapshots = await readSnapshots(lab.host.files, await diskPath(lab, id)) ?? [];
  assert.deepEqual(snapshots.map(({ tag }) => tag), [kept]);
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.remove(id, scope);
});

qemuTest("memory with a network does not begin to load into a machine without one", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  assert.ok(driver.nics !== undefined);
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  const kept = await checkpoints.create(id, { name: "kept", ...MEMORY }, scope);
  await driver.nics.set(id, "nic-0", { switch: null }, scope);
  await driver.vms.stop(id, "save", scope);
  await driver.vms.start(id, scope);
  await driver.vms.stop(id, "off", scope);
  const atRest = await failureOf("hv.unsupported", () => checkpoints.restore(id, kept, scope));
  assert.match(atRest.message, /switch "default" is missing/);
  assert.deepEqual((await checkpoints.list(id, scope.signal)).warnings, []);
  await driver.vms.start(id, scope);
  await failureOf("hv.unsupported", () => checkpoints.restore(id, kept, scope));
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.remove(id, scope);
});

qemuTest("memory that does not load leaves the disk as it was, and a saved VM saved", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await fill(lab, id, 1);
  await driver.vms.start(id, scope);
  const broken = await checkpoints.create(id, { name: "broken", ...MEMORY }, scope);
  await garble(memoryFile(contextOf(lab), id, broken));
  await driver.vms.stop(id, "off", scope);
  await fill(lab, id, 2);
  await failureOf("hv.job_failed", () => checkpoints.restore(id, broken, scope));
  assert.equal(await stateOf(lab, id), "off");
  await assertFilledWith(lab, id, 2);
  assert.deepEqual((await checkpoints.list(id, scope.signal)).warnings, []);
  await driver.vms.start(id, scope);
  await failureOf("hv.job_failed", () => checkpoints.restore(id, broken, scope));
  assert.equal(await stateOf(lab, id), "off");
  await assertFilledWith(lab, id, 2);

  await driver.vms.start(id, scope);
  await driver.vms.stop(id, "save", scope);
  const record = `${lab.state.vm(id)}/vm.json`;
  const text = await Deno.readTextFile(record);
  await Deno.writeTextFile(record, JSON.stringify({ ...readRecord(text, id), memory_mb: 48 }));
  const failure = await failureOf("hv.unsupported", () => driver.vms.start(id, scope));
  assert.match(failure.message, /memory_mb was 32 and is 48/);
  assert.equal(await stateOf(lab, id), "saved");
  await Deno.writeTextFile(record, text);
  await driver.vms.start(id, scope);
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.remove(id, scope);
});

/** Overwrites what lies in the middle of a file with ones. */
async function garble(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  const { size } = await file.stat();
  await file.seek(Math.floor(size / 2), Deno.SeekMode.Start);
  await file.write(new Uint8Array(Math.floor(size / 4)).fill(0xff));
}

qemuTest("an exported checkpoint is a whole disk of its own, with the memory beside it", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await fill(lab, id, 1);
  await driver.vms.start(id, scope);
  const one = await checkpoints.create(id, { name: "one", ...MEMORY }, scope);
  await driver.vms.stop(id, "off", scope);
  await fill(lab, id, 2);
  await driver.vms.start(id, scope);
  const folder = `${lab.state.root}/out, 1`;
  const files = await checkpoints.export(id, one, folder, scope);
  assert.deepEqual(files.map((path) => path.slice(path.lastIndexOf("/") + 1)), [
    "vm.json",
    "disk-0.qcow2",
    "memory.qcow2",
  ]);
  const disk = `${folder}/disk-0.qcow2`;
  assert.match(await diskIo(lab, disk, "read -P 1 0 64k"), /read 65536/);
  assert.deepEqual((await readSnapshots(lab.host.files, disk))?.map(({ tag }) => tag), [one]);
  const record = JSON.parse(await Deno.readTextFile(`${folder}/vm.json`));
  assert.deepEqual([record.boot.kind, record.saved.tag, record.memory_mb], ["disk", one, 32]);
  await failureOf("hv.conflict", () => checkpoints.export(id, one, folder, scope));
  assert.equal(await stateOf(lab, id), "running");
  await driver.vms.remove(id, scope);
});

qemuTest("on a full disk nothing is saved, the guest goes on, and nothing is left", async (lab) => {
  const { driver, scope } = lab;
  const checkpoints = checkpointsOf(lab);
  const id = await diskVm(lab);
  await driver.vms.start(id, scope);
  const folder = `${lab.state.vm(id)}/memory`;
  await Deno.mkdir(folder);
  if (!await mountSmall(folder)) return;
  try {
    const saves = [
      () => checkpoints.create(id, { name: "big", ...MEMORY }, scope),
      () => driver.vms.stop(id, "save", scope),
    ];
    for (const save of saves) {
      const failure = await failureOf("hv.io", save);
      assert.match(failure.hint ?? "", /full/);
      assert.equal(await stateOf(lab, id), "running");
      await assertNothingKept(lab, id);
    }
    assert.deepEqual(await checkpoints.list(id, scope.signal), { checkpoints: [], warnings: [] });
  } finally {
    await new Deno.Command("umount", { args: [folder] }).output();
  }
  await checkpoints.create(id, { name: "now", ...MEMORY }, scope);
  assert.match(JSON.stringify(await driver.vms.losses(id, scope.signal)), /the checkpoint \\"now\\"/);
  await driver.vms.remove(id, scope);
});

qemuTest(
  "a call that is cancelled while memory is saved leaves the guest running and nothing else",
  async (lab) => {
    const { driver, scope } = lab;
    const checkpoints = checkpointsOf(lab);
    const id = await diskVm(lab);
    await driver.vms.start(id, scope);
    const saves = [
      (cancelled: CallScope) => checkpoints.create(id, { name: "one", ...MEMORY }, cancelled),
      (cancelled: CallScope) => driver.vms.stop(id, "save", cancelled),
    ];
    for (const save of saves) {
      const controller = new AbortController();
      const progress = ({ message }: { message: string }): void => {
        if (message.startsWith("Saving memory")) controller.abort(new HvError("hv.cancelled", "enough"));
      };
      await failureOf("hv.cancelled", () => save({ signal: controller.signal, progress }));
      assert.equal(await stateOf(lab, id), "running");
      await assertNothingKept(lab, id);
    }
    assert.deepEqual(await checkpoints.list(id, scope.signal), { checkpoints: [], warnings: [] });
    await driver.vms.remove(id, scope);
  },
);

qemuTest(
  "of two checkpoints at the same instant one is made and the other finds the VM busy",
  async (lab) => {
    const { driver, scope } = lab;
    const id = await diskVm(lab);
    await driver.vms.start(id, scope);
    const other = lab.another();
    const made = await Promise.allSettled([
      checkpointsOf(lab).create(id, { name: "one", ...MEMORY }, scope),
      other.checkpoints?.create(id, { name: "two", ...MEMORY }, scope),
    ]);
    const failures = made.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
    assert.equal(failures.length, 1);
    const [failure] = failures;
    assert.ok(failure instanceof HvError);
    assert.equal(failure.code, "hv.conflict");
    // Who holds the lock says a moment later what for.
    assert.match(String(failure.context.found), /^(?:checkpointing|busy)$/);
    assert.equal((await checkpointsOf(lab).list(id, scope.signal)).checkpoints.length, 1);
    await driver.vms.remove(id, scope);
  },
);

/** A file system of 256 KiB; only root may mount one. */
async function mountSmall(folder: string): Promise<boolean> {
  const args = ["-t", "tmpfs", "-o", "size=256k", "none", folder];
  try {
    return (await new Deno.Command("mount", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
