import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour("a new VM is off and listed under its name", { needs: ["vms"] }, async ({ lab }) => {
  const vm = await lab.vm("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  assert.equal(vm.state, "off");
  assert.equal(vm.sandbox, false);
  assert.equal(vm.memory_mb, 256);
  assert.match(vm.id, /^vm-[0-9a-f-]{36}$/);
  assert.deepEqual(await lab.names(), ["web"]);
});

behaviour("names are kept character for character", { needs: ["vms"] }, async ({ lab }) => {
  const names = [
    "bob's vm (x86) & co",
    '"; exit 3; "',
    "$(throw 1)",
    "a,b=c%20d",
    "тест–’‘‚‛“” 😀",
    "-x",
    "`",
  ];
  for (const name of names) await lab.call("vm_create", { name, ...lab.source, memory_mb: 64 });
  assert.deepEqual(await lab.names(), [...names].sort());
  for (const name of names) assert.equal((await lab.vm("vm_get", { vm: name })).name, name);
});

behaviour(
  "names with control characters or outer spaces are refused",
  { needs: ["vms"] },
  async ({ lab }) => {
    for (const name of ["", " x", "x ", "a\nb", "a\0b", "x".repeat(256)]) {
      assert.equal(
        (await lab.failure("vm_create", { name, ...lab.source })).code,
        "hv.usage",
        JSON.stringify(name),
      );
    }
    assert.deepEqual(await lab.names(), []);
  },
);

behaviour(
  "a VM has the watchdog that was asked for, and a driver without any makes no VM",
  { needs: ["vms"] },
  async ({ lab }) => {
    const wanted = { name: "web", ...lab.source, memory_mb: 64, watchdog: "nmi" };
    if ((await lab.features()).has("watchdog")) {
      assert.equal((await lab.vm("vm_create", wanted)).watchdog, "nmi");
      return;
    }
    const { code, context } = await lab.failure("vm_create", wanted);
    assert.deepEqual([code, context.feature], ["hv.unsupported", "watchdog"]);
    assert.deepEqual(await lab.names(), []);
  },
);

behaviour("a taken name is a conflict and leaves the first VM alone", { needs: ["vms"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source });
  const first = await lab.vm("vm_get", { vm: "web" });
  assert.equal((await lab.failure("vm_create", { name: "web", ...lab.source })).code, "hv.conflict");
  assert.deepEqual(await lab.vm("vm_get", { vm: "web" }), first);
});

behaviour(
  "an unknown image is not found and leaves nothing behind",
  { needs: ["vms", "images"] },
  async ({ lab }) => {
    assert.equal((await lab.failure("vm_create", { name: "web", image: "nothing" })).code, "hv.not_found");
    assert.deepEqual(await lab.names(), []);
    assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
  },
);

behaviour("an unknown VM is not found, with the nearest name", { needs: ["vms"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "build-01", ...lab.source });
  const error = await lab.failure("vm_get", { vm: "build-02" });
  assert.equal(error.code, "hv.not_found");
  assert.match(error.hint ?? "", /build-01/);
});

behaviour("a VM starts, is running, and stops", { needs: ["vms", "guest"] }, async ({ lab }) => {
  assert.equal((await lab.running("web")).state, "running");
  assert.equal((await lab.vm("vm_stop", { vm: "web" })).state, "off");
});

behaviour(
  "starting a running VM and stopping one that is off succeed",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    assert.equal((await lab.vm("vm_stop", { vm: "web", mode: "off" })).state, "off");
    const started = await lab.vm("vm_start", { vm: "web" });
    assert.deepEqual(await lab.vm("vm_start", { vm: "web" }), started);
    assert.equal((await lab.vm("vm_stop", { vm: "web", mode: "off" })).state, "off");
  },
);

behaviour("waiting answers early when asked to", { needs: ["vms"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  await lab.call("vm_start", { vm: "web" });
  const answer = await lab.call("vm_wait", { vm: "web", until: "off" }, { wait_s: 0.05 });
  assert.equal(answer.reached, false);
});

behaviour(
  "a passed limit is a timeout that names what was waited for",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    await lab.call("vm_start", { vm: "web" });
    const error = await lab.failure("vm_wait", { vm: "web", until: "off" }, { timeout_s: 0.05 });
    assert.equal(error.code, "hv.timeout");
  },
);

behaviour(
  "waiting for what cannot come by itself is a conflict at once",
  { needs: ["vms"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source });
    const error = await lab.failure("vm_wait", { vm: "web", until: "heartbeat" });
    assert.equal(error.code, "hv.conflict");
    assert.equal(error.context.found, "off");
  },
);
