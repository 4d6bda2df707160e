import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

const WITH_MEMORY = { memory_state: true };

behaviour(
  "a restored VM has the memory it had, whether it runs meanwhile or is off",
  { needs: ["checkpoints.memory", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    await lab.exec("web", ["touch", "/tmp/before"]);
    const clean = await lab.checkpoint("web", "clean", WITH_MEMORY);
    assert.match(clean.id, /^ckpt-[0-9a-f-]{36}$/);
    assert.deepEqual([clean.memory_state, clean.restores_to, clean.current], [true, "running", true]);
    await lab.exec("web", ["touch", "/tmp/after"]);
    assert.equal((await lab.restore("web", "clean")).state, "running");
    assert.equal(await lab.has("web", "/tmp/before"), true);
    assert.equal(await lab.has("web", "/tmp/after"), false);
    await lab.call("vm_stop", { vm: "web", mode: "off" });
    assert.equal((await lab.restore("web", clean.id)).state, "running");
    assert.equal(await lab.has("web", "/tmp/before"), true);
  },
);

behaviour(
  "checkpoints form a tree, and deleting one keeps its children",
  { needs: ["checkpoints.memory", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    const one = await lab.checkpoint("web", "one", WITH_MEMORY);
    await lab.exec("web", ["touch", "/tmp/two"]);
    const two = await lab.checkpoint("web", "two", WITH_MEMORY);
    await lab.restore("web", "one");
    const three = await lab.checkpoint("web", "three", WITH_MEMORY);
    assert.deepEqual(
      (await lab.checkpoints("web")).map(({ name, parent, current }) => [name, parent, current]),
      [
        ["one", null, false],
        ["two", one.id, false],
        ["three", one.id, true],
      ],
    );
    const args = { vm: "web", checkpoint: "one" };
    const plan = await lab.plan("checkpoint_delete", args);
    assert.ok(plan.preview.losses.some(({ what }) => what.includes('"one"')));
    assert.equal((await lab.call("checkpoint_delete", args, { confirm: plan.confirm })).removed, true);
    assert.deepEqual((await lab.checkpoints("web")).map(({ id, parent }) => [id, parent]), [
      [two.id, null],
      [three.id, null],
    ]);
    await lab.restore("web", "two");
    assert.equal(await lab.has("web", "/tmp/two"), true);
  },
);

behaviour(
  "a checkpoint's name can change, and no two of a VM have one name",
  { needs: ["checkpoints.memory", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    const first = await lab.checkpoint("web", "it's clean, 100% %20", WITH_MEMORY);
    assert.equal(first.name, "it's clean, 100% %20");
    await lab.checkpoint("web", "dirty", WITH_MEMORY);
    const again = await lab.failure("checkpoint_create", { vm: "web", name: "dirty", memory_state: true });
    assert.equal(again.code, "hv.conflict");
    const taken = await lab.failure("checkpoint_rename", { vm: "web", checkpoint: first.id, name: "dirty" });
    assert.equal(taken.code, "hv.conflict");
    const renamed = await lab.call("checkpoint_rename", { vm: "web", checkpoint: first.name, name: "clean" });
    assert.deepEqual([renamed.id, renamed.name], [first.id, "clean"]);
    const unknown = await lab.failure("checkpoint_rename", { vm: "web", checkpoint: "clear", name: "x" });
    assert.deepEqual([unknown.code, unknown.hint], ["hv.not_found", 'Did you mean "clean"?']);
  },
);

behaviour(
  "going back needs a plan that names what is lost and holds for this state only",
  { needs: ["checkpoints.memory", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    await lab.checkpoint("web", "clean", WITH_MEMORY);
    const args = { vm: "web", checkpoint: "clean" };
    const error = await lab.failure("checkpoint_restore", args);
    assert.equal(error.code, "hv.plan_required");
    assert.match(
      error.hint ?? "",
      /hv_plan {"tool":"hv_checkpoint_restore","args":{"vm":"web","checkpoint":"clean"/,
    );
    const plan = await lab.plan("checkpoint_restore", args);
    assert.match(plan.preview.summary, /running/);
    assert.ok(plan.preview.losses.length > 0);
    await lab.call("vm_stop", { vm: "web", mode: "off" });
    const changed = await lab.failure("checkpoint_restore", args, { confirm: plan.confirm });
    assert.equal(changed.code, "hv.plan_invalid");
    assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "off");
    assert.equal((await lab.vm("checkpoint_restore", args, { confirm: "web" })).state, "running");
  },
);

behaviour(
  "memory is saved of a running VM only, and nothing is made when it is refused",
  { needs: ["checkpoints.memory"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    const error = await lab.failure("checkpoint_create", { vm: "web", name: "clean", memory_state: true });
    assert.deepEqual([error.code, error.context.wanted, error.context.found], [
      "hv.conflict",
      "running",
      "off",
    ]);
    assert.deepEqual(await lab.checkpoints("web"), []);
  },
);
