import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour(
  "deleting needs a plan, and the message shows how to make it",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source });
    const error = await lab.failure("vm_delete", { vm: "web" });
    assert.equal(error.code, "hv.plan_required");
    assert.match(error.hint ?? "", /hv_plan {"tool":"hv_vm_delete","args":{"vm":\["web"\]/);
    assert.deepEqual(await lab.names(), ["web"]);
  },
);

behaviour("a plan previews the loss and its token deletes once", { needs: ["vms"] }, async ({ lab }) => {
  const vm = await lab.vm("vm_create", { name: "web", ...lab.source });
  const plan = await lab.plan("vm_delete", { vm: "web" });
  assert.match(plan.plan_id, /^plan-/);
  assert.match(plan.digest, /^[0-9a-f]{64}$/);
  assert.equal(plan.preview.target, vm.id);
  assert.ok(plan.preview.losses.length > 0);
  const removed = await lab.call("vm_delete", { vm: "web" }, { confirm: plan.confirm });
  assert.equal(removed.removed, true);
  assert.deepEqual(await lab.names(), []);
  await lab.call("vm_create", { name: "web", ...lab.source });
  assert.equal(
    (await lab.failure("vm_delete", { vm: "web" }, { confirm: plan.confirm })).code,
    "hv.plan_invalid",
  );
});

behaviour(
  "a token for another VM is refused and stays good for its own",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source });
    await lab.call("vm_create", { name: "db", ...lab.source });
    const plan = await lab.plan("vm_delete", { vm: "web" });
    const error = await lab.failure("vm_delete", { vm: "db" }, { confirm: plan.confirm });
    assert.equal(error.code, "hv.plan_invalid");
    assert.match(error.message, /vm/);
    await lab.call("vm_delete", { vm: "web" }, { confirm: plan.confirm });
    assert.deepEqual(await lab.names(), ["db"]);
  },
);

behaviour("a token does not outlive a change of its target's state", { needs: ["vms"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  const plan = await lab.plan("vm_delete", { vm: "web" });
  await lab.call("vm_start", { vm: "web" });
  const error = await lab.failure("vm_delete", { vm: "web" }, { confirm: plan.confirm });
  assert.equal(error.code, "hv.plan_invalid");
  assert.match(error.message, /state/);
});

behaviour(
  "on the command line the name confirms a deletion, another name does not",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source });
    assert.equal((await lab.failure("vm_delete", { vm: "web" }, { confirm: "db" })).code, "hv.plan_invalid");
    await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
    assert.deepEqual(await lab.names(), []);
  },
);

behaviour("cleaning up takes a plan only, never a word", { needs: ["vms"] }, async ({ lab }) => {
  assert.equal((await lab.failure("vm_cleanup")).code, "hv.plan_required");
  assert.equal((await lab.failure("vm_cleanup", {}, { confirm: "yes" })).code, "hv.plan_invalid");
  const plan = await lab.plan("vm_cleanup", {});
  assert.deepEqual((await lab.call("vm_cleanup", {}, { confirm: plan.confirm })).removed, []);
});
