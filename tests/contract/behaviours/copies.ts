import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

const CLONED = { vm: "web", name: "web2" };

behaviour(
  "a clone is a VM of its own, off and lasting",
  { needs: ["copies", "sandboxes"] },
  async ({ lab }) => {
    const box = await lab.sandbox("web");
    const clone = await lab.vm("vm_clone", CLONED);
    assert.deepEqual([clone.name, clone.state, clone.sandbox, clone.memory_mb], ["web2", "off", false, 256]);
    assert.notEqual(clone.id, box.id);
    assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "running");
    await lab.call("sandbox_destroy", { vm: "web" });
    assert.deepEqual(await lab.names(), ["web2"]);
  },
);

behaviour("a clone runs when its original is gone", { needs: ["copies", "guest"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  await lab.call("vm_clone", CLONED);
  await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
  assert.equal((await lab.vm("vm_start", { vm: "web2", until: "heartbeat" })).state, "running");
  assert.equal((await lab.exec("web2", ["true"])).exit_code, 0);
});

behaviour("no copy takes a name that a VM has", { needs: ["copies"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source });
  const folder = `${lab.root}/out`;
  await lab.call("vm_export", { vm: "web", folder });
  for (const [tool, args] of [["vm_clone", { vm: "web", name: "web" }], ["vm_import", { folder }]] as const) {
    const error = await lab.failure(tool, args);
    assert.equal(error.code, "hv.conflict", tool);
  }
  assert.deepEqual(await lab.names(), ["web"]);
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
});

behaviour(
  "what was exported comes back as a VM with another id, under its name or a new one",
  { needs: ["copies", "guest"] },
  async ({ lab }) => {
    const web = await lab.vm("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    const folder = `${lab.root}/out`;
    const { files } = await lab.call("vm_export", { vm: "web", folder });
    assert.ok(Array.isArray(files) && files.includes(`${folder}/vm.json`));
    assert.equal((await lab.failure("vm_export", { vm: "web", folder })).code, "hv.conflict");
    await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
    const back = await lab.vm("vm_import", { folder });
    assert.deepEqual([back.name, back.memory_mb, back.state], ["web", 256, "off"]);
    assert.notEqual(back.id, web.id);
    await lab.call("vm_import", { folder, name: "db" });
    assert.deepEqual(await lab.names(), ["db", "web"]);
    assert.equal((await lab.vm("vm_start", { vm: "db", until: "heartbeat" })).state, "running");
  },
);

behaviour("a folder that nobody exported makes no VM", { needs: ["copies"] }, async ({ lab }) => {
  assert.equal((await lab.failure("vm_import", { folder: `${lab.root}/nothing` })).code, "hv.bad_image");
  assert.deepEqual(await lab.names(), []);
});
