import assert from "node:assert/strict";
import { lossesOfImage, removeImage } from "../../../../../src/drivers/qemu/images/removal.ts";
import { IMAGE_SCHEMA_VERSION } from "../../../../../src/drivers/qemu/images/images.ts";
import { OVERLAY_FILE } from "../../../../../src/drivers/qemu/overlay.ts";
import { dropTemplates } from "../../../../../src/drivers/qemu/templates/drop.ts";
import { templatesFolder } from "../../../../../src/drivers/qemu/templates/record.ts";
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
    const error = await failureOf("hv.io", () => lossesOfImage(context, "base"));
    assert.deepEqual([error.context.record, error.context.vm], [`${home}/vm.json`, VM_ID]);
    await bench.addVm({ image: "another" });
    assert.equal((await lossesOfImage(context, "base")).length, 2);
  }));

Deno.test("an image and its templates stay while a VM's record cannot be read, and the record is named", () =>
  withQemu(async (bench) => {
    const { context, scope } = bench;
    const path = await addImage(bench);
    const template = `${templatesFolder(context, "base")}/broken`;
    await Deno.mkdir(template, { recursive: true });
    await bench.addVm({ image: "another" });
    const record = `${context.state.vm(VM_ID)}/vm.json`;
    const text = await Deno.readTextFile(record);
    await Deno.truncate(record, 40);
    for (
      const work of [
        () => lossesOfImage(context, "base"),
        () => removeImage(context, "base", scope),
        () => dropTemplates(context, "base", scope),
      ]
    ) {
      const error = await failureOf("hv.io", work);
      assert.deepEqual([error.context.record, error.context.vm, error.context.image], [
        record,
        VM_ID,
        "base",
      ]);
      assert.ok(error.message.includes(record), error.message);
    }
    assert.ok(Deno.statSync(path).isFile && Deno.statSync(template).isDirectory);
    await Deno.writeTextFile(record, text);
    assert.deepEqual((await dropTemplates(context, "base", scope)).map(({ id }) => id), ["broken"]);
    assert.equal((await removeImage(context, "base", scope)).removed, true);
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
