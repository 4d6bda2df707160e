/** VMs made of VMs on Hyper-V: nothing is shared with the original, and a failure leaves nothing. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { folderOf } from "../../src/base/paths.ts";
import type { Lab } from "../contract/lab.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import { type HyperVWorld, runShell } from "../support/hyperv_world.ts";

const MIB = 1024 * 1024;
const SMALL = { disk_size_mb: 64, memory_mb: 64 };

faultTest("a clone has what its original has, and disks of its own", async ({ lab }) => {
  const web = await lab.vm("vm_create", { name: "it's web", ...SMALL, cpus: 2 });
  await lab.call("vm_configure", { vm: web.id, notes: "mine", nested: true });
  await lab.call("vm_start", { vm: web.id });
  await lab.checkpoint(web.id, "clean", { memory_state: true });
  const clone = await lab.call("vm_clone", { vm: web.id, name: "a/b: c" });
  assert.deepEqual([clone.name, clone.state, clone.cpus, clone.managed, clone.disks], [
    "a/b: c",
    "off",
    2,
    true,
    "power_cut",
  ]);
  const seen = await lab.vm("vm_get", { vm: "a/b: c" });
  assert.deepEqual([seen.settings?.notes, seen.settings?.nested], ["mine", true]);
  assert.deepEqual(await lab.checkpoints("a/b: c"), []);
  assert.equal((await lab.vm("vm_get", { vm: web.id })).state, "running");
  const originals = await diskFolders(lab, web.id);
  for (const folder of await diskFolders(lab, seen.id)) assert.ok(!originals.includes(folder), folder);
  await lab.call("vm_delete", { vm: web.id }, { confirm: "it's web" });
  assert.equal((await lab.vm("vm_start", { vm: "a/b: c", until: "heartbeat" })).state, "running");
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
  const unfit = await lab.failure("vm_clone", { vm: "a/b: c", name: "d" });
  assert.equal(unfit.code, "hv.unsupported");
});

faultTest("an export comes back under another id, wherever it was moved", async ({ lab }) => {
  const web = await lab.vm("vm_create", { name: "web", ...SMALL, memory_mb: 128 });
  const folder = `${lab.root}/out`;
  const { files, disks } = await lab.call("vm_export", { vm: "web", folder });
  assert.equal(disks, "at_rest");
  for (const path of z.array(z.string()).parse(files)) assert.ok((await Deno.stat(path)).isFile, path);
  assert.ok(Array.isArray(files) && files.includes(`${folder}/vm.json`));
  assert.equal((await lab.failure("vm_export", { vm: "web", folder })).code, "hv.conflict");
  await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
  await Deno.rename(folder, `${folder} elsewhere`);
  const back = await lab.vm("vm_import", { folder: `${folder} elsewhere` });
  assert.deepEqual([back.name, back.memory_mb, back.state, back.managed], ["web", 128, "off", true]);
  assert.notEqual(back.id, web.id);
  assert.equal((await lab.failure("vm_import", { folder: `${folder} elsewhere` })).code, "hv.conflict");
  await lab.call("vm_import", { folder: `${folder} elsewhere`, name: "db" });
  await Deno.remove(`${folder} elsewhere`, { recursive: true });
  assert.equal((await lab.vm("vm_start", { vm: "db", until: "heartbeat" })).state, "running");
});

faultTest("a checkpoint that was exported comes back as a VM", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.checkpoint("web", "clean", { memory_state: false });
  const folder = `${lab.root}/point`;
  await lab.call("checkpoint_export", { vm: "web", checkpoint: "clean", folder });
  const back = await lab.vm("vm_import", { folder, name: "again" });
  assert.deepEqual([back.state, await lab.checkpoints("again")], ["off", []]);
});

faultTest("a folder that was changed makes no VM", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const folder = `${lab.root}/out`;
  const { files } = await lab.call("vm_export", { vm: "web", folder });
  const disk = z.array(z.string()).parse(files).find((path) => path.endsWith(".vhdx")) ?? "";
  const record = await Deno.readTextFile(`${folder}/vm.json`);
  const refused = async (): Promise<unknown> => {
    const { code, context } = await lab.failure("vm_import", { folder, name: "new" });
    assert.equal(code, "hv.bad_image");
    return context.reason;
  };
  await Deno.writeTextFile(disk, "x", { append: true });
  assert.equal(await refused(), "digest");
  await Deno.remove(disk);
  assert.equal(await refused(), "not_a_file");
  for (const text of ["", "{}", record.replace('"Web', '"../Web').replace(/"file": "/, '"file": "../')]) {
    await Deno.writeTextFile(`${folder}/vm.json`, text);
    assert.equal(await refused(), "damaged_record");
  }
  await Deno.remove(`${folder}/vm.json`);
  await Deno.mkdir(`${folder}/vm.json`);
  assert.equal(await refused(), "no_record");
  assert.deepEqual(await lab.names(), ["web"]);
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
});

faultTest("an import whose switch is missing says so and leaves nothing", async ({ lab, world }) => {
  await runShell(world, "New-VMSwitch lab -SwitchType Internal > $null");
  await lab.call("vm_create", { name: "web", ...SMALL, switch: "lab" });
  const folder = `${lab.root}/out`;
  await lab.call("vm_export", { vm: "web", folder });
  await runShell(
    world,
    "Get-VMNetworkAdapter -VMName web | Disconnect-VMNetworkAdapter; Remove-VMSwitch lab -Force",
  );
  const failure = await lab.failure("vm_import", { folder, name: "new" });
  assert.deepEqual([failure.code, failure.context.left_over], ["hv.conflict", []]);
  assert.match(failure.hint ?? "", /switch/);
  assert.deepEqual(await lab.names(), ["web"]);
});

faultTest("a folder that Hyper-V itself exported comes in as a copy", async ({ lab, world }) => {
  const folder = await exportForeign(world, lab);
  const elsewhere = `${lab.root}/it's moved`;
  await Deno.rename(folder, elsewhere);
  const files = await filesIn(elsewhere);
  const back = await lab.vm("vm_import", { folder: elsewhere });
  assert.deepEqual([back.name, back.memory_mb, back.cpus, back.state, back.managed], [
    "foreign one",
    256,
    2,
    "off",
    true,
  ]);
  assert.deepEqual([back.settings?.notes ?? "", await lab.checkpoints(back.id)], ["", []]);
  assert.deepEqual(await filesIn(elsewhere), files);
  const taken = await lab.failure("vm_import", { folder: elsewhere });
  assert.deepEqual([taken.code, taken.context.vm], ["hv.conflict", back.id]);
  const second = await lab.vm("vm_import", { folder: `${elsewhere}/foreign one`, name: "second" });
  assert.notEqual(second.id, back.id);
  await Deno.remove(elsewhere, { recursive: true });
  for (const vm of ["foreign one", "second"]) {
    assert.equal((await lab.vm("vm_start", { vm, until: "heartbeat" })).state, "running");
    await lab.call("vm_delete", { vm }, { confirm: vm });
  }
  assert.deepEqual([await plannedMachines(world), (await lab.call("vm_orphans")).orphans], [[], []]);
});

faultTest("a foreign export that does not fit is refused with what is missing", async ({ lab, world }) => {
  await runShell(world, "New-VMSwitch lab -SwitchType Internal > $null");
  const folder = await exportForeign(world, lab, "-SwitchName lab");
  await runShell(world, "Remove-VMSwitch lab -Force");
  const [disk = ""] = (await filesIn(folder)).filter((path) => path.endsWith(".vhdx"));
  await Deno.rename(disk, `${lab.root}/away.vhdx`);
  const unfit = await lab.failure("vm_import", { folder });
  assert.deepEqual([unfit.code, unfit.context.left_over], ["hv.conflict", []]);
  const reasons = z.array(z.object({ id: z.int(), message: z.string() })).parse(
    unfit.context.incompatibilities,
  );
  assert.deepEqual(reasons.map(({ id }) => id), [33012, 0]);
  assert.match(reasons[0]?.message ?? "", /switch/);
  assert.match(unfit.message, /does not take the VM in: .*switch/);
  assert.deepEqual([await lab.names(), await plannedMachines(world)], [[], []]);

  await Deno.mkdir(`${lab.root}/empty`);
  for (const other of [`${lab.root}/empty`, `${lab.root}/none`, `${lab.root}/away.vhdx`]) {
    const none = await lab.failure("vm_import", { folder: other });
    assert.deepEqual([none.code, none.context.reason], ["hv.bad_image", "configuration"], other);
  }
});

faultTest("a foreign export leads to no disk of this host", async ({ lab, world }) => {
  const folder = await exportForeign(world, lab);
  const secret = `${lab.root}/secret.vhdx`;
  await lab.call("disk_create", { path: secret, size_bytes: 64 * MIB });
  const files = await filesIn(folder);
  const [configuration = ""] = files.filter((path) => path.endsWith(".vmcx"));
  const text = await Deno.readTextFile(configuration);
  const refused = async (changed: string): Promise<unknown[]> => {
    await Deno.writeTextFile(configuration, changed);
    const { code, context } = await lab.failure("vm_import", { folder });
    return [code, context.reason];
  };
  const foreign = ["hv.bad_image", "foreign_disk"];
  const disks = files.filter((path) => path.endsWith("vhdx"));
  // The machine's own disk, and the checkpoint's below it.
  assert.equal(disks.length, 2);
  for (const disk of disks) {
    const path = JSON.stringify(disk);
    assert.ok(text.includes(path), disk);
    assert.deepEqual(await refused(text.replaceAll(path, JSON.stringify(secret))), foreign, disk);
  }
  const [below = ""] = disks.filter((path) => path.endsWith(".vhdx"));
  const held = await Deno.readFile(below);
  await Deno.remove(below);
  await lab.call("disk_create", { path: below, parent: secret });
  assert.deepEqual(await refused(text), foreign);
  await Deno.writeFile(below, held);
  const named = text.replace('"Name":"foreign one"', '"Name":" foreign"');
  assert.deepEqual(await refused(named), ["hv.usage", undefined]);
  assert.equal((await lab.vm("vm_import", { folder, name: "fit" })).name, "fit");
  assert.deepEqual([await lab.names(), await plannedMachines(world)], [["fit"], []]);
});

faultTest("a copy that fails at any step leaves nothing", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const folders = (): number => [...Deno.readDirSync(`${world.folder}/configuration`)].length;
  const before = folders();
  for (const cmdlet of ["Export-VM", "Import-VM", "Rename-VM", "Set-VM"]) {
    await world.setFaults({ rules: [{ cmdlet, do: "fail", times: 1, message: `no ${cmdlet}` }] });
    const failure = await lab.failure("vm_clone", { vm: "web", name: "new" });
    assert.match(failure.message, new RegExp(`no ${cmdlet}`));
    assert.deepEqual(failure.context.left_over, [], cmdlet);
    await world.setFaults({});
    assert.deepEqual([await lab.names(), folders()], [["web"], before], cmdlet);
  }
  await world.setFaults({ rules: [{ cmdlet: "Export-VM", do: "fail", times: 1 }] });
  await lab.failure("vm_export", { vm: "web", folder: `${lab.root}/out` });
  await assert.rejects(Deno.stat(`${lab.root}/out`), Deno.errors.NotFound);
  await world.setFaults({ rules: [{ cmdlet: "Rename-VM", do: "die", times: 1 }] });
  const died = await lab.failure("vm_clone", { vm: "web", name: "new" });
  assert.deepEqual([died.code, died.context.left_over], ["hv.unavailable", []]);
  assert.deepEqual([await lab.names(), folders()], [["web"], before]);
});

endSharedHost();

/** A VM with a checkpoint that somebody else made, exported and removed. */
async function exportForeign(world: HyperVWorld, lab: Lab, more = ""): Promise<string> {
  const folder = `${lab.root}/exported`;
  const disk = `${lab.root}/foreign.vhdx`;
  await runShell(
    world,
    `New-VM 'foreign one' -Generation 2 -MemoryStartupBytes 256MB -NewVHDPath '${disk}' -NewVHDSizeBytes 64MB ${more} > $null;
    Set-VMProcessor 'foreign one' -Count 2; Checkpoint-VM 'foreign one' -SnapshotName before;
    Export-VM 'foreign one' -Path '${folder}'; Remove-VM 'foreign one' -Force`,
  );
  return folder;
}

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    found.push(...isDirectory ? await filesIn(`${folder}/${name}`) : [`${folder}/${name}`]);
  }
  return found.sort();
}

/** What the host has compared and keeps, unseen. */
async function plannedMachines(world: HyperVWorld): Promise<unknown> {
  return JSON.parse(await Deno.readTextFile(`${world.folder}/planned.json`)).Machines;
}

async function diskFolders(lab: Lab, vm: string): Promise<string[]> {
  const { losses } = (await lab.plan("vm_delete", { vm })).preview;
  return losses.flatMap(({ path }) => path === undefined ? [] : [folderOf(path)]);
}
