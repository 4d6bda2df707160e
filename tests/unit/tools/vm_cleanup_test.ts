import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import type { Orphan } from "../../../src/contract/vm.ts";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { VM_ID } from "../../support/qemu_context.ts";

const FOLDER: Orphan = {
  kind: "folder_without_record",
  id: VM_ID,
  paths: ["/state/vms/x"],
  size_bytes: 512,
  reason: "it holds no record",
};

Deno.test("a plan to clean up says which process is ended, and holds for that process alone", async () => {
  const driver = new MemoryDriver();
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  let orphans = [FOLDER];
  Object.assign(driver.vms, { orphans: () => Promise.resolve(orphans) });
  const idle = await lab.plan("vm_cleanup", {});
  assert.equal(idle.preview.summary, "Remove 1 leftovers of hvlab");
  assert.deepEqual(idle.preview.losses, [
    { what: `folder_without_record ${VM_ID}`, path: "/state/vms/x", size_bytes: 512 },
  ]);
  orphans = [{ ...FOLDER, pid: 77 }];
  const { preview } = await lab.plan("vm_cleanup", {});
  assert.match(preview.summary, /1 of them with a running process, which is ended$/);
  assert.deepEqual(preview.losses.map(({ what }) => what), [
    `folder_without_record ${VM_ID}, with its running process 77`,
  ]);
  const stale = await lab.failure("vm_cleanup", {}, { confirm: idle.confirm });
  assert.equal(stale.code, "hv.plan_invalid");
});

Deno.test("what cannot be removed keeps nothing else from going, and fails in the end", async () => {
  const driver = new MemoryDriver();
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  const asked: string[] = [];
  Object.assign(driver.vms, {
    orphans: () => Promise.resolve(["a", "b", "c"].map((id) => ({ ...FOLDER, id }))),
    removeOrphan: ({ id }: Orphan) => {
      asked.push(id);
      return id === "b"
        ? Promise.reject(new HvError("hv.policy_denied", "It leads out of the state folder"))
        : Promise.resolve({ id, removed: true, files: [] });
    },
  });
  const { confirm } = await lab.plan("vm_cleanup", {});
  const failure = await lab.failure("vm_cleanup", {}, { confirm });
  assert.deepEqual(asked, ["a", "b", "c"]);
  assert.equal(failure.code, "hv.policy_denied");
  assert.deepEqual([failure.context.removed, failure.context.failed], [["a", "c"], 1]);
});
