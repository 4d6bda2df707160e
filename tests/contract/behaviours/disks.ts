import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/base/json.ts";
import { AttachedDisk, Disk, DiskAttachment } from "../../../src/contract/disk.ts";
import { behaviour } from "../behaviour.ts";
import type { Lab } from "../lab.ts";

const MIB = 1024 * 1024;

/** The ending of a disk's name that the driver makes differencing disks of. */
async function endingOf(lab: Lab): Promise<string> {
  return (await lab.session.driver()).name === "hyperv" ? "vhdx" : "qcow2";
}

async function disk(lab: Lab, tool: string, args: JsonObject): Promise<Disk> {
  return Disk.parse(await lab.call(tool, args));
}

behaviour(
  "a disk is made whole, grows, and is never made over another file",
  { needs: ["disks"] },
  async ({ lab }) => {
    const path = `${lab.root}/it's, one.${await endingOf(lab)}`;
    const made = await disk(lab, "disk_create", { path, size_bytes: 8 * MIB });
    assert.deepEqual([made.type, made.size_bytes, made.parent], ["dynamic", 8 * MIB, null]);
    assert.equal((await lab.failure("disk_create", { path, size_bytes: 8 * MIB })).code, "hv.conflict");
    assert.equal((await disk(lab, "disk_resize", { path, size_bytes: 16 * MIB })).size_bytes, 16 * MIB);
    assert.equal((await lab.failure("disk_resize", { path, size_bytes: 8 * MIB })).code, "hv.usage");
    assert.equal((await disk(lab, "disk_info", { path })).size_bytes, 16 * MIB);
    assert.equal((await lab.call("disk_check", { path })).sound, true);
    assert.deepEqual(
      [...Deno.readDirSync(lab.root)].map(({ name }) => name).filter((name) => name.startsWith(".")),
      [],
    );
  },
);

behaviour(
  "a chain shows its layers, and names a parent that is gone or another",
  { needs: ["disks"] },
  async ({ lab }) => {
    const ending = await endingOf(lab);
    const [parent, child] = [`${lab.root}/parent.${ending}`, `${lab.root}/child.${ending}`];
    await disk(lab, "disk_create", { path: parent, size_bytes: 8 * MIB });
    const made = await disk(lab, "disk_create", { path: child, parent });
    assert.deepEqual([made.type, made.size_bytes, made.parent?.name], ["differencing", 8 * MIB, parent]);
    const { layers } = await lab.call("disk_chain", { path: child });
    assert.ok(Array.isArray(layers));
    assert.equal(layers.length, 2);
    await Deno.rename(parent, `${parent}.away`);
    const gone = await lab.failure("disk_chain", { path: child });
    assert.deepEqual([gone.code, gone.context.reason, gone.context.layer], ["hv.bad_image", "missing", 1]);
    assert.ok(Array.isArray(gone.context.layers) && gone.context.layers.length === 2);
    await disk(lab, "disk_create", { path: parent, size_bytes: 16 * MIB });
    const other = await lab.failure("disk_chain", { path: child });
    assert.equal(other.code, "hv.bad_image");
    assert.match(String(other.context.reason), /^(?:changed|mismatched)$/);
    assert.equal((await lab.call("disk_check", { path: child })).sound, false);
    await lab.call("vm_create", { name: "web", ...lab.source });
    assert.equal((await lab.failure("disk_attach", { vm: "web", path: child })).code, "hv.bad_image");
  },
);

behaviour("a disk of a VM that is off is one at its next start, and stays while it is needed", {
  needs: ["disks"],
}, async ({ lab }) => {
  const ending = await endingOf(lab);
  const [parent, child] = [`${lab.root}/parent.${ending}`, `${lab.root}/child.${ending}`];
  await disk(lab, "disk_create", { path: parent, size_bytes: 8 * MIB });
  await disk(lab, "disk_create", { path: child, parent });
  await lab.call("vm_create", { name: "web", ...lab.source });
  await lab.call("vm_create", { name: "db", ...lab.source });
  for (let again = 0; again < 2; again++) {
    const { attached, at_next_start: later, disks } = DiskAttachment.parse(
      await lab.call("disk_attach", { vm: "web", path: child }),
    );
    assert.deepEqual([attached, later], [false, true]);
    assert.equal(disks.filter(({ path }: AttachedDisk) => path === child).length, 1);
  }
  for (const path of [child, parent]) {
    assert.equal((await lab.failure("disk_delete", { path }, { confirm: path })).code, "hv.conflict", path);
    assert.equal((await lab.failure("disk_attach", { vm: "db", path })).code, "hv.conflict", path);
  }
  const { preview, confirm } = await lab.plan("disk_merge", { path: child });
  assert.ok(preview.losses.some(({ path }) => path === child));
  const { removed } = await lab.call("disk_merge", { path: child }, { confirm });
  assert.equal(removed, child);
  assert.equal((await lab.failure("disk_info", { path: child })).code, "hv.not_found");
  const { at_next_start: left } = DiskAttachment.parse(
    await lab.call("disk_detach", { vm: "web", path: parent }),
  );
  assert.equal(left, false);
  assert.equal((await lab.failure("disk_detach", { vm: "web", path: parent })).code, "hv.not_found");
  assert.equal((await lab.failure("disk_delete", { path: parent })).code, "hv.plan_required");
  assert.equal((await lab.call("disk_delete", { path: parent }, { confirm: parent })).removed, true);
});
