import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour(
  "a paused VM is paused, not off, and goes on where it was",
  { needs: ["pause", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    await lab.exec("web", ["touch", "/tmp/before"]);
    assert.equal((await lab.vm("vm_pause", { vm: "web" })).state, "paused");
    assert.equal((await lab.vm("vm_pause", { vm: "web" })).state, "paused", "a second pause does nothing");
    const asked = await lab.failure("guest_exec", { vm: "web", argv: ["true"] });
    assert.deepEqual([asked.code, asked.context.found], ["hv.conflict", "paused"]);
    const stopped = await lab.failure("vm_stop", { vm: "web" });
    assert.deepEqual([stopped.code, stopped.context.found], ["hv.conflict", "paused"]);
    assert.equal((await lab.vm("vm_resume", { vm: "web" })).state, "running");
    assert.equal((await lab.vm("vm_resume", { vm: "web" })).state, "running", "a second resume does nothing");
    assert.equal(await lab.has("web", "/tmp/before"), true);
  },
);

behaviour(
  "a VM that is off can neither be paused nor resumed",
  { needs: ["pause"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    for (const [tool, wanted] of [["vm_pause", "running"], ["vm_resume", "paused"]] as const) {
      const { code, context } = await lab.failure(tool, { vm: "web" });
      assert.deepEqual([code, context.wanted, context.found], ["hv.conflict", wanted, "off"]);
    }
  },
);

behaviour(
  "a saved VM goes on where it was when it is started",
  { needs: ["pause", "guest"] },
  async ({ lab }) => {
    await lab.running("web");
    await lab.exec("web", ["touch", "/tmp/before"]);
    assert.equal((await lab.vm("vm_stop", { vm: "web", mode: "save" })).state, "saved");
    assert.equal(
      (await lab.vm("vm_stop", { vm: "web", mode: "save" })).state,
      "saved",
      "a second save does nothing",
    );
    const refused = await lab.failure("vm_stop", { vm: "web" });
    assert.deepEqual([refused.code, refused.context.found], ["hv.conflict", "saved"]);
    assert.equal((await lab.vm("vm_start", { vm: "web", until: "heartbeat" })).state, "running");
    assert.equal(await lab.has("web", "/tmp/before"), true);
    await lab.call("vm_stop", { vm: "web", mode: "save" });
    assert.equal(
      (await lab.vm("vm_stop", { vm: "web", mode: "off" })).state,
      "off",
      "off gives the memory up",
    );
    await lab.call("vm_start", { vm: "web", until: "heartbeat" });
    assert.equal(await lab.has("web", "/tmp/before"), false);
  },
);

behaviour("a restarted VM has booted anew", { needs: ["vms", "guest"] }, async ({ lab }) => {
  await lab.running("web");
  await lab.exec("web", ["touch", "/tmp/before"]);
  assert.equal((await lab.vm("vm_restart", { vm: "web", until: "heartbeat" })).state, "running");
  assert.equal(await lab.has("web", "/tmp/before"), false);
});
