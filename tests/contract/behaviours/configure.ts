import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour("a VM that is off changes at once", { needs: ["configure"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256, cpus: 1 });
  const changed = await lab.call("vm_configure", { vm: "web", memory_mb: 300, cpus: 2 });
  assert.deepEqual([changed.memory_mb, changed.cpus, changed.now], [300, 2, ["memory_mb", "cpus"]]);
  assert.equal(changed.at_next_start, undefined);
});

behaviour(
  "a running VM shows what it has and what it gets at its next start",
  { needs: ["configure", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    const changed = await lab.call("vm_configure", { vm: "web", memory_mb: 300, cpus: 1 });
    assert.deepEqual([changed.memory_mb, changed.now], [256, ["cpus"]]);
    assert.deepEqual(changed.at_next_start, { memory_mb: 300 });
    await lab.call("vm_stop", { vm: "web", mode: "off" });
    const off = await lab.vm("vm_get", { vm: "web" });
    assert.deepEqual([off.memory_mb, off.at_next_start], [300, undefined]);
    assert.equal((await lab.vm("vm_start", { vm: "web" })).memory_mb, 300);
  },
);

behaviour("taking a change back leaves nothing to wait for", { needs: ["configure"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  await lab.call("vm_start", { vm: "web" });
  await lab.call("vm_configure", { vm: "web", memory_mb: 300 });
  const back = await lab.call("vm_configure", { vm: "web", memory_mb: 256 });
  assert.deepEqual([back.at_next_start, back.now], [undefined, ["memory_mb"]]);
});

behaviour(
  "an empty change and an impossible one are refused",
  { needs: ["configure"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    const before = await lab.vm("vm_get", { vm: "web" });
    assert.equal((await lab.failure("vm_configure", { vm: "web" })).code, "hv.usage");
    for (const change of [{ memory_mb: 0 }, { cpus: 0 }, { cpus: -1 }]) {
      assert.equal((await lab.failure("vm_configure", { vm: "web", ...change })).code, "hv.usage");
    }
    assert.deepEqual(await lab.vm("vm_get", { vm: "web" }), before);
  },
);

behaviour("a VM keeps its id and its life under a new name", { needs: ["configure"] }, async ({ lab }) => {
  const { id } = await lab.vm("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  await lab.call("vm_create", { name: "db", ...lab.source });
  const started = await lab.vm("vm_start", { vm: "web" });
  assert.equal((await lab.failure("vm_rename", { vm: "web", name: "db" })).code, "hv.conflict");
  const renamed = await lab.vm("vm_rename", { vm: "web", name: "it's, 100% new" });
  assert.deepEqual([renamed.id, renamed.state, renamed.pid], [id, "running", started.pid]);
  assert.equal((await lab.vm("vm_get", { vm: "it's, 100% new" })).id, id);
  assert.equal((await lab.failure("vm_get", { vm: "web" })).code, "hv.not_found");
  await lab.call("vm_rename", { vm: id, name: "it's, 100% new" });
  await lab.call("vm_create", { name: "web", ...lab.source });
});
