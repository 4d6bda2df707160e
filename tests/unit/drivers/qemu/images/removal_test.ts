import assert from "node:assert/strict";
import { lossesOfImage } from "../../../../../src/drivers/qemu/images/removal.ts";
import { IMAGE_SCHEMA_VERSION } from "../../../../../src/drivers/qemu/images/images.ts";
import { OVERLAY_FILE } from "../../../../../src/drivers/qemu/overlay.ts";
import { qcow2File } from "../../../../support/disk_writer.ts";
import { failureOf } from "../../../../support/failures.ts";
import { OTHER_ID, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

/** Writes an image with one disk and answers the disk's path. */
async function addImage({ context: { state } }: QemuBench): Promise<string> {
  const folder = `${state.images}/base`;
  await Deno.mkdir(folder, { recursive: true });
  const disk = { role: "disk", path: "disk.img", size_bytes: 512, sha256: "0".repeat(64), format: "raw" };
  const record = {
    schema: IMAGE_SCHEMA_VERSION,
    name: "base",
    kind: "disk",
    files: [disk],
    created_at: "2026-11-29T11:00:00.000Z",
  };
  await Deno.writeTextFile(`${folder}/image.json`, JSON.stringify(record));
  await Deno.writeFile(`${folder}/disk.img`, new Uint8Array(512));
  return `${folder}/disk.img`;
}

Deno.test("an image stays while a VM hangs on it whose record is damaged, or whose disk is", () =>
  withQemu(async (bench) => {
    const { context } = bench;
    const backing = await addImage(bench);
    assert.deepEqual((await lossesOfImage(context, "base")).map(({ what }) => what), ["file", "file"]);
    const home = context.state.vm(VM_ID);
    await Deno.mkdir(home, { recursive: true });
    await Deno.writeTextFile(`${home}/vm.json`, "{");
    for (const overlay of [qcow2File({ backing, backingFormat: "raw" }), new Uint8Array(7)]) {
      await Deno.writeFile(`${home}/${OVERLAY_FILE}`, overlay);
      const { context: facts } = await failureOf("hv.conflict", () => lossesOfImage(context, "base"));
      assert.deepEqual(facts.users, [`the VM "${VM_ID}"`]);
    }
    await Deno.writeFile(
      `${home}/${OVERLAY_FILE}`,
      qcow2File({ backing: "/elsewhere.img", backingFormat: "raw" }),
    );
    assert.equal((await lossesOfImage(context, "base")).length, 2);
  }));

Deno.test("an image stays while a VM has its disk attached", () =>
  withQemu(async (bench) => {
    const path = await addImage(bench);
    await bench.addVm({
      id: OTHER_ID,
      image: "another",
      disks: [{ key: "01234567", path, read_only: true }],
    });
    const { context: facts } = await failureOf("hv.conflict", () => lossesOfImage(bench.context, "base"));
    assert.deepEqual(facts.users, ['the VM "name of fedc"']);
  }));
