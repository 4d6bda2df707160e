/** Clones, exports and imports of real machines with disks; folders that somebody has tampered with. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { CopyAbilities } from "../../src/drivers/vm_extras.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

function copiesOf({ driver }: QemuLab): CopyAbilities {
  assert.ok(driver.copies !== undefined);
  return driver.copies;
}

async function run({ host }: QemuLab, program: string, ...args: string[]): Promise<string> {
  const done = await host.processes.run(program, args);
  assert.equal(done.code, 0, new TextDecoder().decode(done.stderr));
  return new TextDecoder().decode(done.stdout);
}

function digestOf(path: string): string {
  return createHash("sha256").update(Deno.readFileSync(path)).digest("hex");
}

/** A VM whose own disk holds a word at its start and leans on an image. */
async function makeWithDisk(lab: QemuLab): Promise<string> {
  const { driver, scope, state } = lab;
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(4 * 1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
  const id = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
  await writeWord(lab, state.vm(id), 0x41);
  return id;
}

/** Fills the first 64 KiB of a VM's disk with a byte. */
async function writeWord(lab: QemuLab, home: string, byte: number): Promise<void> {
  await Deno.writeFile(`${lab.state.root}/word`, new Uint8Array(65_536).fill(byte));
  await run(
    lab,
    "qemu-img",
    ..."convert -n -f raw -O qcow2".split(" "),
    `${lab.state.root}/word`,
    `${home}/disk.qcow2`,
  );
}

async function firstByte(lab: QemuLab, path: string): Promise<number | undefined> {
  const raw = `${lab.state.root}/raw`;
  await run(lab, "qemu-img", "convert", "-U", "-f", "qcow2", "-O", "raw", path, raw);
  return Deno.readFileSync(raw)[0];
}

async function backingOf(lab: QemuLab, path: string): Promise<unknown> {
  const info = JSON.parse(await run(lab, "qemu-img", "info", "-U", "--output=json", path));
  return info["backing-filename"];
}

qemuTest("a clone of a VM at rest has the disk and none of the checkpoints", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  await driver.checkpoints?.create(id, { name: "one", memory_state: false }, scope);
  const image = await driver.images?.get("blank", scope.signal);
  const before = digestOf(image?.files[0]?.path ?? "");
  const { id: clone, disks } = await copiesOf(lab).clone(id, "web2", scope);
  assert.equal(disks, "at_rest");
  const copy = `${state.vm(clone)}/disk.qcow2`;
  assert.equal(await firstByte(lab, copy), 0x41);
  assert.equal(await backingOf(lab, copy), image?.files[0]?.path);
  assert.equal(await run(lab, "qemu-img", "snapshot", "-l", copy), "");
  assert.deepEqual((await driver.checkpoints?.list(clone, scope.signal))?.checkpoints, []);
  await driver.vms.remove(id, scope);
  await driver.vms.start(clone, scope);
  assert.equal((await driver.vms.get(clone, scope.signal)).state, "running");
  assert.equal(digestOf(image?.files[0]?.path ?? ""), before);
  await driver.vms.remove(clone, scope);
});

qemuTest("a clone of a running VM shows one moment, and the VM goes on as it was", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  await driver.vms.start(id, scope);
  const { pid } = await driver.vms.get(id, scope.signal);
  const { id: clone, disks } = await copiesOf(lab).clone(id, "web2", scope);
  assert.equal(disks, "power_cut");
  assert.equal(await firstByte(lab, `${state.vm(clone)}/disk.qcow2`), 0x41);
  const after = await driver.vms.get(id, scope.signal);
  assert.deepEqual([after.state, after.pid], ["running", pid]);
  await copiesOf(lab).export(id, `${state.root}/out`, scope);
  assert.equal(await firstByte(lab, `${state.root}/out/disk-0.qcow2`), 0x41);
  await driver.vms.start(clone, scope);
  for (const each of [id, clone]) await driver.vms.remove(each, scope);
});

qemuTest("an exported disk needs no other file, and comes back as it was", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  const folder = `${state.root}/out, of 'é`;
  const { files, disks } = await copiesOf(lab).export(id, `${folder}/`, scope);
  assert.deepEqual([files, disks], [[`${folder}/vm.json`, `${folder}/disk-0.qcow2`], "at_rest"]);
  assert.equal(await backingOf(lab, `${folder}/disk-0.qcow2`), undefined);
  await driver.vms.remove(id, scope);
  await Deno.remove(state.images, { recursive: true });
  assert.deepEqual(await copiesOf(lab).look(folder, scope.signal), { name: "web", memory_mb: 16, cpus: 1 });
  const back = await copiesOf(lab).import(folder, undefined, scope);
  assert.equal(await firstByte(lab, `${state.vm(back)}/disk.qcow2`), 0x41);
  await driver.vms.start(back, scope);
  await driver.vms.remove(back, scope);
});

qemuTest(
  "a folder with files in it is not exported to, an empty one is; attached disks stay",
  async (lab) => {
    const { driver, scope, state } = lab;
    const id = await driver.vms.create(lab.vm(), scope);
    const folder = `${state.root}/out`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/mine`, "text");
    await failureOf("hv.conflict", () => copiesOf(lab).export(id, folder, scope));
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["mine"]);
    await Deno.remove(`${folder}/mine`);
    const attached = `${state.root}/data.qcow2`;
    await driver.disks?.create({ path: attached, type: "dynamic", size_bytes: 1024 * 1024 }, scope);
    await driver.disks?.attach(id, attached, {}, scope);
    const warnings: string[] = [];
    const told = { ...scope, warn: (text: string) => void warnings.push(text) };
    const { id: clone } = await copiesOf(lab).clone(id, "web2", told);
    assert.deepEqual(await driver.disks?.attached(clone, scope.signal), []);
    await copiesOf(lab).export(id, folder, told);
    assert.deepEqual(warnings, [
      `The attached disk "${attached}" is no part of the clone: attach a copy of it`,
      `The attached disk "${attached}" stays where it is: an export holds the VM's own disks`,
    ]);
    assert.ok(existsSync(`${folder}/vm.json`));
    await failureOf("hv.conflict", () => copiesOf(lab).export(id, `${folder}/vm.json`, scope));
    for (const each of [id, clone]) await driver.vms.remove(each, scope);
  },
);

qemuTest("a checkpoint with memory that was exported comes back as a VM that goes on there", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  await driver.vms.start(id, scope);
  const checkpoint = await driver.checkpoints?.create(id, { name: "one", memory_state: true }, scope);
  assert.ok(checkpoint !== undefined);
  await driver.checkpoints?.export(id, checkpoint, `${state.root}/out`, scope);
  await driver.vms.remove(id, scope);
  const back = await copiesOf(lab).import(`${state.root}/out`, "back", scope);
  assert.equal((await driver.vms.get(back, scope.signal)).state, "saved");
  await driver.vms.start(back, scope);
  assert.equal((await driver.vms.get(back, scope.signal)).state, "running");
  await driver.vms.remove(back, scope);
});

interface Tampering {
  what: string;
  reason: string;
  change: (record: Record<string, unknown>, folder: string) => Promise<void> | void;
}

const TAMPERINGS: readonly Tampering[] = [
  { what: "no record", reason: "no_record", change: (_, folder) => Deno.remove(`${folder}/vm.json`) },
  {
    what: "a changed byte",
    reason: "digest",
    change: (_, folder) => Deno.writeFile(`${folder}/disk-0.qcow2`, new Uint8Array(1), { append: true }),
  },
  {
    what: "a link in a file's place",
    reason: "not_a_file",
    async change(_, folder) {
      await Deno.rename(`${folder}/disk-0.qcow2`, `${folder}/other`);
      await Deno.symlink(`${folder}/other`, `${folder}/disk-0.qcow2`);
    },
  },
  {
    what: "a missing file",
    reason: "not_a_file",
    change: (_, folder) => Deno.remove(`${folder}/disk-0.qcow2`),
  },
  {
    what: "a path out of the folder",
    reason: "damaged_record",
    change: (record) => {
      record.disks = [{ node: "disk-0", file: "../secret", format: "qcow2" }];
    },
  },
  {
    what: "a machine that is more than a type",
    reason: "damaged_record",
    change: (record) => {
      record.machine = "q35,smm=on";
    },
  },
  {
    what: "a disk of no known kind",
    reason: "damaged_record",
    change: (record) => {
      record.disks = [{ node: "disk-9", file: "disk-0.qcow2", format: "qcow2" }];
    },
  },
  {
    what: "no digest",
    reason: "no_digest",
    change: (record) => {
      record.files = [];
    },
  },
  {
    what: "a tag that is a path",
    reason: "damaged_record",
    change: (record) => {
      record.saved = { file: "disk-0.qcow2", tag: "../../x", at: "", memory: {} };
    },
  },
  {
    what: "more memory than there is",
    reason: "damaged_record",
    change: (record) => {
      record.memory_mb = 1e9;
    },
  },
];

qemuTest("a folder that somebody has tampered with makes no VM and leaves nothing", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  const whole = `${state.root}/whole`;
  await copiesOf(lab).export(id, whole, scope);
  await driver.vms.remove(id, scope);
  await Deno.writeTextFile(`${state.root}/secret`, "secret");
  for (const { what, reason, change } of TAMPERINGS) {
    const folder = `${state.root}/tampered`;
    await Deno.mkdir(folder);
    for (const { name } of Deno.readDirSync(whole)) {
      await Deno.copyFile(`${whole}/${name}`, `${folder}/${name}`);
    }
    const record = JSON.parse(await Deno.readTextFile(`${folder}/vm.json`));
    await Deno.writeTextFile(`${folder}/vm.json`, "");
    await change(record, folder);
    if (existsSync(`${folder}/vm.json`)) {
      await Deno.writeTextFile(`${folder}/vm.json`, JSON.stringify(record));
    }
    const failure = await failureOf("hv.bad_image", () => copiesOf(lab).import(folder, "bad", scope));
    assert.equal(failure.context.reason, reason, what);
    await Deno.remove(folder, { recursive: true });
    assert.deepEqual([...Deno.readDirSync(state.vms)], [], what);
  }
  assert.deepEqual(await driver.vms.orphans(scope.signal), []);
});

qemuTest("a disk that leads to another file is refused although its digest is right", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await makeWithDisk(lab);
  const folder = `${state.root}/out`;
  await copiesOf(lab).export(id, folder, scope);
  await driver.vms.remove(id, scope);
  const disk = `${folder}/disk-0.qcow2`;
  await run(lab, "qemu-img", "create", "-q", "-f", "qcow2", "-b", `${state.root}/word`, "-F", "raw", disk);
  const record = JSON.parse(await Deno.readTextFile(`${folder}/vm.json`));
  record.files = [{ file: "disk-0.qcow2", size_bytes: Deno.statSync(disk).size, sha256: digestOf(disk) }];
  await Deno.writeTextFile(`${folder}/vm.json`, JSON.stringify(record));
  const failure = await failureOf("hv.bad_image", () => copiesOf(lab).import(folder, "bad", scope));
  assert.equal(failure.context.reason, "backing_file");
  assert.deepEqual([...Deno.readDirSync(state.vms)], []);
});
