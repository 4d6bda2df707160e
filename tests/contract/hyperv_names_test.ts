/** Names on a Hyper-V host: those that Windows cannot have, those that are there twice, and hints that go by ids. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import { runShell } from "../support/hyperv_world.ts";

const MIB = 1024 * 1024;
const SMALL = { disk_size_mb: 64, memory_mb: 64 };

faultTest("what Windows cannot name is refused before anything is made", async ({ lab, world }) => {
  const good = `${lab.root}/good.vhdx`;
  await lab.call("disk_create", { path: good, size_bytes: 64 * MIB });
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.checkpoint("web", "clean", { memory_state: false });
  const before = [...Deno.readDirSync(lab.root)].map(({ name }) => name).sort();
  for (
    const [tool, args] of [
      ["disk_create", { path: `${lab.root}/aux.vhdx`, size_bytes: 64 * MIB }],
      ["disk_create", { path: `${lab.root}/a:b.vhdx`, size_bytes: 64 * MIB }],
      ["disk_create", { path: `${lab.root}/a.vhdx.`, size_bytes: 64 * MIB }],
      ["disk_convert", { path: good, target: `${lab.root}/LPT1.vhdx` }],
      ["vm_export", { vm: "web", folder: `${lab.root}/NUL` }],
      ["vm_export", { vm: "web", folder: `${lab.root}/out. ` }],
      ["checkpoint_export", { vm: "web", checkpoint: "clean", folder: `${lab.root}/con` }],
      ["image_import", { name: "CON", disk: good }],
      ["image_import", { name: "aux.1", disk: good }],
      ["image_import", { name: "dot.", disk: good }],
    ] as const
  ) {
    assert.equal((await lab.failure(tool, args)).code, "hv.usage", JSON.stringify(args));
  }
  assert.deepEqual([...Deno.readDirSync(lab.root)].map(({ name }) => name).sort(), before);
  assert.deepEqual((await lab.call("image_list")).images, []);
  assert.equal(await world.host.files.stat(`${world.folder}/state/hyperv_images`), undefined);
});

faultTest("a VM with a device's name is not copied, and the hint can be typed", async ({ lab }) => {
  const { id } = await lab.vm("vm_create", { name: "NUL", ...SMALL });
  for (
    const [tool, args] of [["vm_clone", { name: "new" }], ["vm_export", {
      folder: `${lab.root}/out`,
    }]] as const
  ) {
    const { code, hint } = await lab.failure(tool, { vm: "NUL", ...args });
    assert.deepEqual([code, hint], ["hv.unsupported", `Rename it first: hvlab vm rename ${id} NAME`], tool);
  }
});

faultTest("two disks of one file name are named, and not the folder of the copy", async ({ lab }) => {
  const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
  const paths = [`${lab.root}/a/data.vhdx`, `${lab.root}/b/data.vhdx`];
  for (const path of paths) {
    await Deno.mkdir(path.slice(0, -"/data.vhdx".length));
    await lab.call("disk_create", { path, size_bytes: 64 * MIB });
    await lab.call("disk_attach", { vm: "web", path });
  }
  for (
    const [tool, args] of [["vm_clone", { name: "new" }], ["vm_export", {
      folder: `${lab.root}/out`,
    }]] as const
  ) {
    const { code, context, hint } = await lab.failure(tool, { vm: "web", ...args });
    assert.deepEqual([code, context.paths, context.vm], ["hv.conflict", paths, id], tool);
    assert.match(hint ?? "", new RegExp(`disk detach ${id} FILE`));
  }
  await lab.call("disk_detach", { vm: "web", path: paths[1] ?? "" });
  assert.equal((await lab.vm("vm_clone", { vm: "web", name: "new" })).state, "off");
});

faultTest("hints go by the VM's id, since two VMs may have one name", async ({ lab, world }) => {
  await runShell(
    world,
    "1..2 | ForEach-Object { [void] (New-VM twin -Generation 2 -MemoryStartupBytes 64MB -NoVHD) }",
  );
  const { vms } = await lab.call("vm_list");
  const [{ id } = { id: "" }] = z.array(z.object({ id: z.string() })).parse(vms);
  const pausing = await lab.failure("vm_pause", { vm: id });
  assert.equal(pausing.hint, `Start it with \`hvlab vm start ${id}\``);
  await lab.call("vm_start", { vm: id });
  await lab.call("vm_pause", { vm: id });
  const starting = await lab.failure("vm_start", { vm: id });
  assert.equal(starting.hint, `Let it go on with \`hvlab vm resume ${id}\``);
  const keeping = await lab.failure("checkpoint_create", { vm: id, name: "one", memory_state: true });
  assert.match(keeping.hint ?? "", new RegExp(`vm resume ${id}\``));
  const asking = await lab.failure("vm_stop", { vm: id });
  assert.match(asking.hint ?? "", new RegExp(`vm stop ${id} --mode off\``));
});

endSharedHost();
