/** Disks on a simulated Hyper-V host on which something goes wrong. */

import assert from "node:assert/strict";
import { DiskAttachment } from "../../src/contract/disk.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";

const MIB = 1024 * 1024;

faultTest("a running VM gets a disk and gives it back, and nothing is merged under it", async ({ lab }) => {
  const [parent, child] = [`${lab.root}/it's.vhdx`, `${lab.root}/child.vhdx`];
  await lab.call("disk_create", { path: parent, size_bytes: 64 * MIB });
  await lab.call("disk_create", { path: child, parent });
  await lab.call("vm_create", { name: "web", ...lab.source });
  await lab.call("vm_start", { vm: "web" });
  const { attached, disks } = DiskAttachment.parse(await lab.call("disk_attach", { vm: "web", path: child }));
  assert.deepEqual([attached, disks.length], [true, 2]);
  const refused = await lab.failure("disk_merge", { path: child }, { confirm: child });
  assert.deepEqual([refused.code, refused.context.wanted, refused.context.found], [
    "hv.conflict",
    "off",
    "running",
  ]);
  assert.match(refused.message, /"web" is running: Hyper-V merges such a disk only while nobody has it open/);
  for (const [tool, args] of [["disk_resize", { size_bytes: 128 * MIB }], ["disk_compact", {}]] as const) {
    const leaning = await lab.failure(tool, { path: parent, ...args });
    assert.deepEqual([leaning.code, leaning.context.children], ["hv.conflict", [child]], tool);
  }
  assert.equal(
    (await lab.failure("disk_attach", { vm: "web", path: parent, read_only: true })).code,
    "hv.unsupported",
  );
  const out = DiskAttachment.parse(await lab.call("disk_detach", { vm: "web", path: child }));
  assert.deepEqual([out.attached, out.disks.length], [false, 1]);
});

faultTest("a checkpoint's disk is merged by deleting the checkpoint, and not by itself", async ({ lab }) => {
  const { id } = await lab.vm("vm_create", { name: "web", ...lab.source });
  await lab.call("vm_start", { vm: "web" });
  await lab.checkpoint("web", "clean", { memory_state: true });
  const driver = await lab.session.driver();
  const [disk] = await driver.disks?.attached(id, AbortSignal.timeout(300_000)) ?? [];
  assert.match(disk?.path ?? "", /avhdx$/);
  const refused = await lab.failure("plan", { tool: "disk_merge", args: { path: disk?.path ?? "" } });
  assert.equal(refused.code, "hv.conflict");
  assert.match(refused.message, /a checkpoint of the VM "web" has its parent/);
  assert.match(refused.hint ?? "", /checkpoint delete/);
  await lab.call("checkpoint_delete", { vm: "web", checkpoint: "clean" }, { confirm: "web" });
  assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "running");
});

faultTest("what a job did counts, not what it said", async ({ lab, world }) => {
  const [parent, child] = [`${lab.root}/parent.vhdx`, `${lab.root}/child.vhdx`];
  await lab.call("disk_create", { path: parent, size_bytes: 64 * MIB });
  await lab.call("disk_create", { path: child, parent });
  await lab.call("vm_create", { name: "web", ...lab.source });
  await world.setFaults({
    rules: [
      { cmdlet: "Add-VMHardDiskDrive", vm: "web", do: "vanish", times: 1 },
      { cmdlet: "Merge-VHD", do: "fail_job", times: 1 },
      { cmdlet: "New-VHD", do: "fail_job", times: 1 },
    ],
  });
  const { at_next_start: there } = DiskAttachment.parse(
    await lab.call("disk_attach", { vm: "web", path: child }),
  );
  assert.equal(there, true);
  assert.equal((await lab.failure("disk_merge", { path: child }, { confirm: child })).code, "hv.job_failed");
  const { layers } = await lab.call("disk_chain", { path: child });
  assert.ok(Array.isArray(layers) && layers.length === 2);
  const made = await lab.failure("disk_create", { path: `${lab.root}/new.vhdx`, size_bytes: 64 * MIB });
  assert.equal(made.code, "hv.job_failed");
  const names = [...Deno.readDirSync(lab.root)].map(({ name }) => name);
  assert.deepEqual(names.filter((name) => name.includes("new")), []);
  assert.equal((await lab.call("disk_merge", { path: child }, { confirm: child })).removed, child);
});

faultTest(
  "a disk that somebody holds, and a file that is none, are told apart from one that is not there",
  async ({ lab, world }) => {
    const path = `${lab.root}/held.vhdx`;
    await lab.call("disk_create", { path, size_bytes: 64 * MIB });
    await world.setFaults({ locked_disks: [{ path }] });
    const held = await lab.failure("disk_info", { path });
    assert.deepEqual([held.code, held.context.reason], ["hv.conflict", "in_use"]);
    await world.setFaults({ permission: "denied" });
    assert.equal((await lab.failure("disk_info", { path })).code, "hv.permission");
    await world.setFaults({});
    await Deno.writeTextFile(`${lab.root}/junk.vhdx`, "junk");
    assert.equal((await lab.failure("disk_chain", { path: `${lab.root}/junk.vhdx` })).code, "hv.bad_image");
    assert.equal((await lab.failure("disk_info", { path: `${lab.root}/none.vhdx` })).code, "hv.not_found");
    const foreign = await lab.failure("disk_create", { path: `${lab.root}/x.qcow2`, size_bytes: MIB });
    assert.equal(foreign.code, "hv.unsupported");
  },
);

faultTest("a VM is made of no disk that is missing, or that a VM's checkpoints hang on", async ({ lab }) => {
  const path = `${lab.root}/data.vhdx`;
  await lab.call("disk_create", { path, size_bytes: 64 * MIB });
  const { id } = await lab.vm("vm_create", { name: "web", memory_mb: 64, disk: path });
  await lab.checkpoint("web", "clean", { memory_state: false });
  const taken = await lab.failure("vm_create", { name: "db", memory_mb: 64, disk: path });
  assert.deepEqual([taken.code, taken.context.vm, taken.context.left_over], ["hv.conflict", id, []]);
  assert.match(taken.hint ?? "", new RegExp(`checkpoint list ${id}`));
  assert.match((await lab.failure("disk_compact", { path })).hint ?? "", new RegExp(`checkpoint list ${id}`));
  for (const field of ["disk", "parent_disk"]) {
    const missing = await lab.failure("vm_create", {
      name: "db",
      memory_mb: 64,
      [field]: `${lab.root}/none.vhdx`,
    });
    assert.deepEqual([missing.code, missing.context.path], ["hv.not_found", `${lab.root}/none.vhdx`], field);
  }
  await lab.call("checkpoint_delete", { vm: "web", checkpoint: "clean" }, { confirm: "web" });
  const used = await lab.failure("vm_create", { name: "db", memory_mb: 64, disk: path });
  assert.match(used.hint ?? "", new RegExp(`disk detach ${id} FILE`));
});

faultTest("a new disk never replaces one that it would hang on", async ({ lab }) => {
  const [base, child] = [`${lab.root}/base.vhdx`, `${lab.root}/child.vhdx`];
  await lab.call("disk_create", { path: base, size_bytes: 64 * MIB });
  await lab.call("disk_create", { path: child, parent: base });
  const before = await Deno.readFile(base);
  for (const parent of [base, child]) {
    assert.equal(
      (await lab.failure("disk_create", { path: base, parent, overwrite: true })).code,
      "hv.usage",
    );
  }
  const over = await lab.failure("disk_convert", { path: child, target: base, overwrite: true });
  assert.equal(over.code, "hv.usage");
  assert.deepEqual(await Deno.readFile(base), before);
});

endSharedHost();
