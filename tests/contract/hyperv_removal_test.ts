/** What a removal on Hyper-V takes and what it never does; and VMs that somebody else made. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { folderOf } from "../../src/base/paths.ts";
import { Removed } from "../../src/contract/vm.ts";
import type { Loss } from "../../src/contract/plan.ts";
import type { Lab } from "../contract/lab.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import { runShell } from "../support/hyperv_world.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 64 };

faultTest("a preview names each loss with its path and size, and nothing else is lost", async ({ lab }) => {
  await lab.call("vm_create", { name: "other", ...SMALL });
  const [foreign = ""] = disksOf(await lossesOf(lab, "other"));
  await lab.call("vm_create", { name: "web", memory_mb: 64, parent_disk: foreign });
  await lab.call("vm_start", { vm: "web" });
  await lab.checkpoint("web", "clean", { memory_state: true });
  await lab.call("vm_stop", { vm: "web", mode: "save" });
  const losses = await lossesOf(lab, "web");
  assert.deepEqual(losses.map(({ what }) => what), [
    'the configuration of "web"',
    'the memory that "web" saved',
    'the checkpoint "clean"',
    "disk",
    "disk",
  ]);
  for (const { path, size_bytes } of losses.slice(3)) {
    assert.equal(size_bytes, (await Deno.stat(path ?? "")).size);
  }
  await removal(lab, { vm: "web" });
  for (const path of disksOf(losses)) await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  assert.ok((await Deno.stat(foreign)).isFile);
});

faultTest("a disk that another VM hangs on is never deleted", async ({ lab }) => {
  await lab.call("vm_create", { name: "base", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "base"));
  const child = await lab.vm("vm_create", { name: "child", memory_mb: 64, parent_disk: disk });
  const [childDisk = ""] = disksOf(await lossesOf(lab, "child"));
  await lab.call("vm_create", { name: "grandchild", memory_mb: 64, parent_disk: childDisk });
  const losses = await lossesOf(lab, "base");
  assert.ok(losses.some(({ what }) => what.startsWith('the disk of "child"') && what.includes(child.id)));
  const refused = await lab.failure("vm_delete", { vm: "base" }, { confirm: "base" });
  assert.equal(refused.code, "hv.conflict");
  assert.match(refused.message, /"child".*"grandchild"/);
  assert.deepEqual(await lab.names(), ["base", "child", "grandchild"]);
  const kept = await removal(lab, { vm: "base", keep_disks: true });
  assert.deepEqual([kept.files, kept.kept], [[], [disk]]);
  assert.equal((await lab.vm("vm_start", { vm: "grandchild" })).state, "running");
  await removal(lab, { vm: "grandchild" });
  await removal(lab, { vm: "child" });
});

faultTest("disks stay where it cannot be told what hangs on them", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "base", ...SMALL });
  await lab.call("vm_create", { name: "other", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "base"));
  const [locked = ""] = disksOf(await lossesOf(lab, "other"));
  await world.setFaults({ locked_disks: [{ path: locked }] });
  const losses = await lossesOf(lab, "base");
  assert.deepEqual(losses.filter(({ what }) => what.startsWith("perhaps")).map(({ path }) => path), [locked]);
  const removed = await removal(lab, { vm: "base" });
  assert.deepEqual([removed.files, removed.kept], [[], [disk]]);
  assert.match(removed.warnings?.join() ?? "", /cannot be told/);
  await world.setFaults({});
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
});

faultTest("disks stay while there is a VM that cannot be seen", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "base", ...SMALL });
  const { id } = await lab.vm("vm_create", { name: "other", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "base"));
  await using _lost = await world.loseStorage(id);
  const removed = await removal(lab, { vm: "base" });
  assert.deepEqual([removed.files, removed.kept], [[], [disk]]);
  assert.match(removed.warnings?.join() ?? "", /cannot be told/);
});

faultTest("disks that were kept are no leftovers", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "web"));
  const losses = await lossesOf(lab, "web", { keep_disks: true });
  assert.deepEqual(losses.filter(({ what }) => what === "disk"), []);
  assert.deepEqual((await removal(lab, { vm: "web", keep_disks: true })).kept, [disk]);
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
  assert.equal((await lab.vm("vm_create", { name: "web", memory_mb: 64, disk })).state, "off");
  await removal(lab, { vm: "web" });
  assert.ok((await Deno.stat(disk)).isFile);
});

faultTest("a folder whose VM is gone stays while a disk hangs on what lies in it", async ({ lab, world }) => {
  const base = await lab.vm("vm_create", { name: "base", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "base"));
  await lab.call("vm_create", { name: "child", memory_mb: 64, parent_disk: disk });
  await runShell(world, `Get-VM -Id ${base.id.slice(3)} | Remove-VM -Force`);
  const folder = folderOf(folderOf(disk));
  await new Deno.Command("touch", { args: ["-d", "2020-01-01", folder] }).output();
  const { confirm } = await lab.plan("vm_cleanup", {});
  await lab.call("vm_cleanup", {}, { confirm });
  assert.ok((await Deno.stat(disk)).isFile);
  await removal(lab, { vm: "child" });
});

faultTest("a copy that bears another VM's mark never takes that one's folder", async ({ lab, world }) => {
  const web = await lab.vm("vm_create", { name: "web", ...SMALL });
  const [disk = ""] = disksOf(await lossesOf(lab, "web"));
  const out = `${world.folder}/out`;
  await runShell(
    world,
    `Export-VM web -Path '${out}'; $file = (Get-ChildItem '${out}' -Recurse -Filter *.vmcx).FullName; ` +
      `[void] (Import-VM -Path $file -Copy -GenerateNewId -VirtualMachinePath '${out}/in' -VhdDestinationPath '${out}/in')`,
  );
  const { vms } = await lab.call("vm_list");
  const ids = z.array(z.object({ id: z.string() })).parse(vms).map(({ id }) => id);
  const copy = ids.find((id) => id !== web.id) ?? "";
  const { confirm } = await lab.plan("vm_delete", { vm: copy });
  const removed = Removed.parse(await lab.call("vm_delete", { vm: copy }, { confirm }));
  assert.deepEqual(removed.files, []);
  assert.ok((await Deno.stat(disk)).isFile);
  assert.deepEqual(await lab.names(), ["web"]);
});

faultTest("a VM is adopted by name or id, and forgotten whole", async ({ lab, world }) => {
  await runShell(world, "New-VM foreign -Generation 2 -NoVHD > $null; Set-VM foreign -Notes 'mine'");
  const before = await lab.vm("vm_get", { vm: "foreign" });
  assert.deepEqual([before.managed, before.adopted], [false, undefined]);
  assert.equal((await lab.failure("vm_adopt", { locator: "nobody" })).code, "hv.not_found");
  await lab.call("vm_create", { name: "own", ...SMALL });
  assert.equal((await lab.failure("vm_adopt", { locator: "own" })).code, "hv.conflict");
  assert.equal((await lab.failure("vm_adopt", { locator: "foreign", name: "own" })).code, "hv.conflict");
  const adopted = await lab.vm("vm_adopt", { locator: "foreign", name: "ours" });
  assert.deepEqual([adopted.id, adopted.managed, adopted.adopted, adopted.name], [
    before.id,
    true,
    true,
    "ours",
  ]);
  assert.equal((await lab.vm("vm_adopt", { locator: before.id })).name, "ours");
  assert.equal((await lab.vm("vm_get", { vm: "ours" })).settings?.notes, "mine");
  assert.equal((await lab.call("vm_forget", { vm: "ours" })).forgotten, true);
  assert.equal((await lab.failure("vm_forget", { vm: "own" })).code, "hv.unsupported");
  await lab.call("vm_adopt", { locator: "ours" });
  await removal(lab, { vm: "ours" });
  const after = await lab.vm("vm_get", { vm: "ours" });
  assert.deepEqual([after.managed, after.settings?.notes], [false, "mine"]);
});

faultTest("a restore makes no VM hvlab's nor anybody else's", async ({ lab, world }) => {
  await runShell(world, "[void] (New-VM theirs -Generation 2 -MemoryStartupBytes 64MB -NoVHD)");
  await lab.checkpoint("theirs", "before", { memory_state: false });
  const seen = async (): Promise<unknown[]> => {
    const { managed, adopted = false, settings } = await lab.vm("vm_get", { vm: "theirs" });
    return [managed, adopted, settings?.notes];
  };
  await lab.call("vm_configure", { vm: "theirs", notes: "old" });
  await lab.call("vm_adopt", { locator: "theirs" });
  await lab.checkpoint("theirs", "adopted", { memory_state: false });
  await lab.call("checkpoint_restore", { vm: "theirs", checkpoint: "before" }, { confirm: "theirs" });
  assert.deepEqual(await seen(), [true, true, ""]);
  await lab.call("vm_forget", { vm: "theirs" });
  await lab.restore("theirs", "adopted");
  assert.deepEqual(await seen(), [false, false, "old"]);
  await runShell(world, "Get-VM theirs | Remove-VM -Force");
});

endSharedHost();

async function lossesOf(lab: Lab, vm: string, args: { keep_disks?: true } = {}): Promise<Loss[]> {
  return (await lab.plan("vm_delete", { vm, ...args })).preview.losses;
}

function disksOf(losses: Loss[]): string[] {
  return losses.flatMap(({ what, path }) => what === "disk" && path !== undefined ? [path] : []);
}

async function removal(lab: Lab, args: { vm: string; keep_disks?: true }): Promise<Removed> {
  return Removed.parse(await lab.call("vm_delete", args, { confirm: args.vm }));
}
