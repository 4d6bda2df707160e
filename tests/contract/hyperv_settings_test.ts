/** Settings of VMs on Hyper-V: what is set is what is read back, and nothing else changes. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../src/base/json.ts";
import { Vm } from "../../src/contract/vm.ts";
import { VmSettings } from "../../src/contract/vm_settings.ts";
import type { Lab } from "../contract/lab.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 1024 };

faultTest("each setting is read back, and the others stay", async ({ lab }) => {
  await makeWithDisc(lab, "web", 2);
  const changes: JsonObject[] = [
    { secure_boot: "linux" },
    { dynamic_memory: true, memory_min_mb: 256, memory_max_mb: 2048 },
    { memory_max_mb: 4096 },
    { boot: ["dvd", "network", "disk"] },
    { boot: ["disk"] },
    { tpm: true },
    { nested: true },
    { on_host_start: "start", start_delay_s: 20 },
    { on_host_stop: "shutdown" },
    { notes: 'my "own" text; [brackets] and 😀' },
    { tpm: false },
    { secure_boot: "off" },
    { dynamic_memory: false },
  ];
  let expected = await settingsOf(lab, "web");
  for (const change of changes) {
    const { now } = await lab.call("vm_configure", { vm: "web", ...change });
    assert.deepEqual(now, Object.keys(change));
    expected = VmSettings.parse({ ...expected, ...change });
    if (expected.boot?.length === 1) expected.boot = ["disk", "dvd", "network"];
    assert.deepEqual(await settingsOf(lab, "web"), expected);
  }
  assert.equal((await lab.vm("vm_get", { vm: "web" })).managed, true);
});

faultTest("generation 1 has a boot order, and neither Secure Boot nor a TPM", async ({ lab }) => {
  await makeWithDisc(lab, "old", 1);
  await lab.call("vm_configure", { vm: "old", boot: ["disk", "network"] });
  const { boot, secure_boot, tpm } = await settingsOf(lab, "old");
  assert.deepEqual([boot, secure_boot, tpm], [["disk", "network", "dvd"], undefined, undefined]);
  for (const change of [{ tpm: true }, { secure_boot: "off" }]) {
    assert.equal((await lab.failure("vm_configure", { vm: "old", ...change })).code, "hv.unsupported");
  }
});

faultTest("a VM boots from no kind of device that it lacks", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const before = await settingsOf(lab, "web");
  const refused = await lab.failure("vm_configure", { vm: "web", boot: ["dvd", "disk"], nested: true });
  assert.deepEqual([refused.code, refused.context.wanted], ["hv.conflict", "dvd"]);
  assert.deepEqual(await settingsOf(lab, "web"), before);
});

faultTest("what needs a VM that is off is refused before anything changes", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  const before = await settingsOf(lab, "web");
  const refused = await lab.failure("vm_configure", { vm: "web", nested: true, notes: "new" });
  assert.deepEqual([refused.code, refused.context.wanted, refused.context.found], [
    "hv.conflict",
    "off",
    "running",
  ]);
  assert.deepEqual(await settingsOf(lab, "web"), before);
  await lab.call("vm_configure", { vm: "web", notes: "new", memory_mb: 2048 });
  const seen = Vm.parse(await lab.call("vm_get", { vm: "web" }));
  assert.deepEqual([seen.settings?.notes, seen.at_next_start], ["new", { memory_mb: 2048 }]);
});

faultTest("a change that breaks off says what holds already", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({ rules: [{ cmdlet: "Enable-VMTPM", do: "fail", times: 1 }] });
  const change = { vm: "web", secure_boot: "linux", nested: true, tpm: true, notes: "new" };
  const failure = await lab.failure("vm_configure", change);
  assert.deepEqual(failure.context.applied, ["secure_boot", "nested"]);
  const { secure_boot, nested, tpm, notes } = await settingsOf(lab, "web");
  assert.deepEqual([secure_boot, nested, tpm, notes], ["linux", true, false, ""]);
});

faultTest("the keys of Secure Boot are chosen before the TPM, and bounds fit the memory", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL, tpm: true });
  assert.equal((await settingsOf(lab, "web")).tpm, true);
  assert.equal((await lab.failure("vm_configure", { vm: "web", secure_boot: "linux" })).code, "hv.conflict");
  const unfit: JsonObject[] = [
    { memory_min_mb: 512 },
    { dynamic_memory: true, memory_min_mb: 2048 },
    { dynamic_memory: true, memory_max_mb: 512 },
    { dynamic_memory: true, memory_min_mb: 511 },
    { notes: "[hvlab;key=x;]" },
  ];
  for (const change of unfit) {
    assert.equal((await lab.failure("vm_configure", { vm: "web", ...change })).code, "hv.usage");
  }
});

faultTest("a VM whose settings cannot be read is shown all the same", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({ rules: [{ cmdlet: "Get-VMFirmware", do: "fail", message: "no firmware" }] });
  const answer = await lab.pipeline.call({ tool: "vm_get", args: { vm: "web" } }, {
    signal: AbortSignal.timeout(60_000),
    progress: () => {},
  });
  assert.ok(answer.kind === "done");
  assert.deepEqual([answer.result.name, answer.result.settings], ["web", undefined]);
  assert.match(answer.warnings.join(), /settings: .*no firmware/);
});

endSharedHost();

async function makeWithDisc(lab: Lab, name: string, generation: number): Promise<void> {
  const iso = `${lab.root}/disc.iso`;
  await Deno.writeTextFile(iso, "");
  await lab.call("vm_create", { name, ...SMALL, generation, iso });
}

async function settingsOf(lab: Lab, vm: string): Promise<VmSettings> {
  const { settings } = Vm.parse(await lab.call("vm_get", { vm }));
  assert.ok(settings !== undefined);
  return settings;
}
