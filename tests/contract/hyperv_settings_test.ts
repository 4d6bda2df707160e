/** Settings of VMs on Hyper-V: what is set is what is read back, and nothing else changes. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../src/base/json.ts";
import { Vm } from "../../src/contract/vm.ts";
import { VmSettings } from "../../src/contract/vm_settings.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { openHyperVDriver } from "../../src/drivers/hyperv/driver.ts";
import { changeWithNotes } from "../../src/drivers/hyperv/machines/notes.ts";
import { StateFolder } from "../../src/state/layout.ts";
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
    signal: AbortSignal.timeout(300_000),
    progress: () => {},
  });
  assert.ok(answer.kind === "done");
  assert.deepEqual([answer.result.name, answer.result.settings], ["web", undefined]);
  assert.match(answer.warnings.join(), /settings: .*no firmware/);
});

faultTest("programs that change one VM's notes at once lose nothing", async ({ lab, world }) => {
  const scope = newScope();
  const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: id });
  const state = new StateFolder(`${world.folder}/state`);
  const other = openHyperVDriver({ host: world.host, state });
  try {
    await world.setFaults({ rules: [{ cmdlet: "Set-VM", do: "delay", seconds: 0.1 }] });
    for (const [round, cpus] of [2, 3, 4].entries()) {
      await Promise.all([
        lab.call("vm_configure", { vm: id, notes: `round ${round}` }),
        other.configure?.configure(id, { memory_mb: 512 }, scope),
        other.configure?.configure(id, { cpus }, scope),
      ]);
      const { settings, at_next_start, managed } = await lab.vm("vm_get", { vm: id });
      assert.deepEqual([settings?.notes, at_next_start, managed], [
        `round ${round}`,
        { memory_mb: 512, cpus },
        true,
      ]);
    }
    await lab.call("vm_delete", { vm: id }, { confirm: "web" });
    assert.deepEqual([...Deno.readDirSync(state.locks)].filter(({ name }) => name.includes(id)), []);
  } finally {
    await other.close();
  }
});

faultTest("notes that somebody else changes meanwhile are read anew", async ({ lab, world }) => {
  const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
  const scope = newScope();
  const hyperv = new HyperV(world.host);
  const state = new StateFolder(`${lab.root}/state`);
  try {
    const seen: string[] = [];
    await changeWithNotes(hyperv, state, id, async ({ notes: was }) => {
      seen.push(was);
      const args = { notes: `${was} foreign`, was };
      if (seen.length === 1) await hyperv.changeMachine("set_machine", id, args, scope);
      await hyperv.changeMachine("set_machine", id, { notes: `${was} ours`, was }, scope);
    }, scope);
    const { notes } = await hyperv.getMachine(id, scope.signal);
    assert.equal(notes, `${seen[0]} foreign ours`);
    const args = { notes: "", was: "others" };
    await assert.rejects(hyperv.changeMachine("set_machine", id, args, scope), { code: "hv.conflict" });
    assert.equal((await hyperv.getMachine(id, scope.signal)).notes, notes);
  } finally {
    await hyperv.close();
  }
});

endSharedHost();

function newScope(): CallScope {
  return { signal: AbortSignal.timeout(300_000), progress: () => {} };
}

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
