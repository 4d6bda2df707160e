import assert from "node:assert/strict";
import { sha256Hex } from "../../../../../src/base/json.ts";
import { lossesOfDisk, removeDisk } from "../../../../../src/drivers/qemu/disks/remove.ts";
import { refuseReplacing } from "../../../../../src/drivers/qemu/disks/users.ts";
import { failureOf } from "../../../../support/failures.ts";
import { OTHER_ID, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

async function makeDisk({ host }: QemuBench): Promise<string> {
  const path = `${host.root}/data.raw`;
  await Deno.writeFile(path, new Uint8Array(64 * 1024));
  return path;
}

Deno.test("a disk stays while the record of some VM cannot be read, and the record is named", () =>
  withQemu(async (bench) => {
    const { context, scope } = bench;
    const disk = await makeDisk(bench);
    await bench.addVm({ id: OTHER_ID });
    await bench.addVm();
    const record = `${context.state.vm(VM_ID)}/vm.json`;
    const text = await Deno.readTextFile(record);
    for (const damage of [text.slice(0, 40), "", text.replace('"schema": 1', '"schema": 2')]) {
      await Deno.writeTextFile(record, damage);
      for (
        const work of [
          () => removeDisk(context, disk, scope),
          () => lossesOfDisk(context, disk, scope.signal),
          () => refuseReplacing(context, disk, scope.signal),
        ]
      ) {
        const error = await failureOf("hv.io", work);
        assert.deepEqual([error.context.record, error.context.vm, error.context.path], [record, VM_ID, disk]);
        assert.ok(error.message.includes(record), error.message);
      }
    }
    await Deno.remove(record);
    await failureOf("hv.io", () => removeDisk(context, disk, scope));
    assert.ok(Deno.statSync(disk).isFile);
    await Deno.writeTextFile(record, text);
    assert.deepEqual(await removeDisk(context, disk, scope), { path: disk, removed: true });
  }));

Deno.test("what is no VM's folder hides no user", () =>
  withQemu(async (bench) => {
    const disk = await makeDisk(bench);
    await Deno.mkdir(`${bench.context.state.vms}/lost+found`, { recursive: true });
    await Deno.writeTextFile(`${bench.context.state.vms}/note.txt`, "");
    assert.equal((await removeDisk(bench.context, disk, bench.scope)).removed, true);
  }));

Deno.test("a disk stays while what some other disk leans on cannot be read", () =>
  withQemu(async (bench) => {
    const { context, scope } = bench;
    const disk = await makeDisk(bench);
    const fileOf = async (path: string): Promise<string> =>
      `${context.state.disks}/${await sha256Hex(path)}.json`;
    await Deno.mkdir(context.state.disks, { recursive: true });
    const damaged = await fileOf("/elsewhere.qcow2");
    await Deno.writeTextFile(damaged, '{"schema": 1, "pa');
    const error = await failureOf("hv.io", () => removeDisk(context, disk, scope));
    assert.equal(error.context.record, damaged);
    await Deno.remove(damaged);
    // Its own may be damaged: no disk leans on itself. Others are files that are being written.
    await Deno.writeTextFile(await fileOf(disk), "");
    await Deno.writeTextFile(`${damaged}.new`, "");
    assert.equal((await removeDisk(context, disk, scope)).removed, true);
  }));
