import assert from "node:assert/strict";
import { attachDisk } from "../../../../../src/drivers/qemu/disks/attach.ts";
import { createDisk } from "../../../../../src/drivers/qemu/disks/create.ts";
import { quoteWord } from "../../../../../src/host/quote_word.ts";
import { qcow2File } from "../../../../support/disk_writer.ts";
import { failureOf } from "../../../../support/failures.ts";
import { OTHER_ID, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

/** A chain of three disks, the lowest first; the VM may write to one of them. */
async function addChain({ host, addVm }: QemuBench, written: number): Promise<string[]> {
  const paths = [0, 1, 2].map((depth) => `${host.root}/a disk ${depth}.qcow2`);
  for (const [depth, path] of paths.entries()) {
    const backing = paths[depth - 1];
    await Deno.writeFile(path, qcow2File(backing === undefined ? {} : { backing, backingFormat: "qcow2" }));
  }
  await addVm({ id: OTHER_ID, disks: [{ key: "aaaaaaaa", path: paths[written] ?? "" }] });
  return paths;
}

Deno.test("nothing comes to lean on a disk below which a VM may write", () =>
  withQemu(async (bench) => {
    const { context, records, scope, host } = bench;
    await bench.addVm();
    for (const written of [0, 1]) {
      const paths = await addChain(bench, written);
      const top = paths[2] ?? "";
      const spec = { path: `${host.root}/new.qcow2`, type: "differencing", parent: top } as const;
      for (
        const work of [
          () => createDisk(context, spec, scope),
          () => attachDisk(context, records, VM_ID, top, { follow_parents: true }, scope),
        ]
      ) {
        const { context: { path, vm }, hint } = await failureOf("hv.conflict", work);
        assert.deepEqual([path, vm], [paths[written], OTHER_ID]);
        assert.ok(hint?.endsWith(`hvlab disk detach ${OTHER_ID} ${quoteWord(paths[written] ?? "")}`), hint);
      }
    }
  }));

Deno.test("a disk that another VM has is detached there with words that can be typed", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    await bench.addVm();
    const [path = ""] = await addChain(bench, 0);
    const attaching = () => attachDisk(context, records, VM_ID, path, {}, scope);
    const { hint } = await failureOf("hv.conflict", attaching);
    assert.equal(hint, `Detach it there first: hvlab disk detach ${OTHER_ID} ${quoteWord(path)}`);
  }));
