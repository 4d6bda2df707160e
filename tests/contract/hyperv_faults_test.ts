/** What goes wrong on Hyper-V hosts, and what hvlab makes of it. Each test has a simulated host with that fault. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { Finding } from "../../src/contract/finding.ts";
import { Operation } from "../../src/contract/operation.ts";
import { Orphan, Removed, Vm } from "../../src/contract/vm.ts";
import { isPlainObject, type JsonObject } from "../../src/base/json.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import type { MachineParts } from "../../src/drivers/hyperv/machines/parts.ts";
import { writeTag } from "../../src/drivers/hyperv/machines/tag.ts";
import { ROOT } from "../../tools/programs.ts";
import type { CallAnswer, CallRequest } from "../../src/tools/tool.ts";
import { failureOf } from "../support/failures.ts";
import { endSharedHost, faultTest, type HyperVLab } from "../support/hyperv_lab.ts";
import { type HyperVWorld, runShell } from "../support/hyperv_world.ts";
import { StepClock } from "../support/step_clock.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 64 };
/** What the host works on so long ends when the test says so. */
const FOR_EVER_S = 3_600;
const DEFAULT_SWITCH = "Коммутатор по умолчанию";

faultTest("names travel as data, and the built-in switch is found by its id", async ({ lab }) => {
  const names = [
    "bob's vm (x86) & co",
    "$(throw 1)",
    '"; exit 3; "',
    "ends with \\",
    "тест–’‘‚‛“” 😀",
    "2026-01-01T00:00:00Z",
  ];
  for (const name of names) await lab.call("vm_create", { name, ...SMALL });
  await lab.call("vm_create", { name: "by name", ...SMALL, switch: DEFAULT_SWITCH });
  await lab.call("vm_create", { name: "by id", ...SMALL, switch: "default" });
  assert.deepEqual(await lab.names(), [...names, "by name", "by id"].sort());
  const missing = await lab.failure("vm_create", { name: "none", ...SMALL, switch: "*" });
  assert.deepEqual([missing.code, missing.context.known], ["hv.not_found", [DEFAULT_SWITCH]]);
}, { host: { Language: "ru" } });

faultTest("two VMs of one name are told apart by their ids", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "lab", ...SMALL });
  await using hyperv = openHyperV(world);
  const other = await hyperv.make({ name: "lab" });
  const failure = await lab.failure("vm_start", { vm: "lab" });
  assert.equal(failure.code, "hv.ambiguous");
  assert.equal((await lab.vm("vm_start", { vm: other })).id, other);
  const { vms } = await lab.call("vm_list");
  assert.deepEqual(z.array(Vm).parse(vms).map(({ state }) => state).sort(), ["off", "running"]);
});

for (const permission of ["denied", "stale", "empty"]) {
  faultTest(`without rights (${permission}) nothing looks like an empty host`, async ({ lab, world }) => {
    const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
    await world.setFaults({ permission });
    for (const [tool, args] of [["vm_list", {}], ["vm_get", { vm: id }], ["vm_orphans", {}]] as const) {
      const failure = await lab.failure(tool, args);
      assert.equal(failure.code, "hv.permission", tool);
      assert.equal(failure.context.group, "S-1-5-32-578");
    }
    const { findings, healthy } = await lab.call("doctor");
    assert.equal(healthy, false);
    assert.equal(statusOf(findings, "rights"), "broken");
  });
}

faultTest("a host without VMs gives an empty list", async ({ lab }) => {
  assert.deepEqual((await lab.call("vm_list")).vms, []);
});

faultTest("a stopped service is no empty host either", async ({ lab, world }) => {
  await world.setFaults({ service: "stopped" });
  const failure = await lab.failure("vm_list");
  assert.deepEqual([failure.code, failure.context.step], ["hv.unavailable", "service"]);
  assert.equal(statusOf((await lab.call("doctor")).findings, "service"), "broken");
});

faultTest("noise is no reply", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  for (let round = 0; round < 10; round++) assert.equal((await lab.vm("vm_get", { vm: "web" })).name, "web");
}, { faults: { import_noise: true, noise: true } });

faultTest("late replies answer nobody, and no change is doubled", async ({ lab, world }) => {
  const web = await lab.vm("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_create", { name: "db", ...SMALL });
  const rounds = 4;
  const before = await world.effects();
  for (let round = 0; round < rounds; round++) {
    await world.setFaults({ rules: [{ cmdlet: "Start-VM", vm: "web", do: "work", seconds: FOR_EVER_S }] });
    const given = new AbortController();
    const slow = lab.pipeline.call({ tool: "vm_start", args: { vm: "web" } }, {
      signal: given.signal,
      progress: () => {},
    });
    const cancelled = assert.rejects(slow, { code: "hv.cancelled" });
    while ((await lab.vm("vm_get", { vm: "web" })).state !== "starting") await world.host.clock.sleep(20);
    given.abort();
    const reads = await Promise.all(Array.from({ length: 5 }, () => lab.vm("vm_get", { vm: "db" })));
    assert.ok(reads.every(({ name }) => name === "db"));
    await cancelled;
    assert.equal((await lab.vm("vm_get", { vm: "web" })).name, "web");
    await world.setFaults({});
    await world.endWork(web.id);
    await lab.call("vm_wait", { vm: "web", until: "running" });
    await lab.call("vm_stop", { vm: "web", mode: "off" });
  }
  const after = await world.effects();
  for (const cmdlet of ["Start-VM", "Stop-VM"]) {
    assert.equal((after[cmdlet] ?? 0) - (before[cmdlet] ?? 0), rounds, cmdlet);
  }
});

faultTest("a call that cannot be stopped costs its sidecar, not the next call", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  await world.setFaults({ rules: [{ cmdlet: "Suspend-VM", vm: "web", do: "stuck", deaf: true, times: 1 }] });
  const before = await world.sidecars();
  const begunBefore = await world.faultsBegun();
  const given = new AbortController();
  const pausing = lab.pipeline.call({ tool: "vm_pause", args: { vm: "web" } }, {
    signal: given.signal,
    progress: () => {},
  });
  const cancelled = assert.rejects(pausing, { code: "hv.cancelled" });
  while (await world.faultsBegun() === begunBefore) await world.host.clock.sleep(20);
  given.abort();
  await cancelled;
  assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "running");
  assert.equal((await world.sidecars()).length, before.length + 1);
});

faultTest("a read outlives its sidecar", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({ rules: [{ cmdlet: "Get-VM", do: "die", times: 1 }] });
  assert.deepEqual(await lab.names(), ["web"]);
});

faultTest("a sidecar killed while nobody asks is replaced", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_list");
  for (const pid of await world.livingSidecars()) await world.host.processes.kill(pid, "KILL");
  while ((await world.livingSidecars()).length > 0) await world.host.clock.sleep(20);
  assert.equal((await lab.vm("vm_start", { vm: "web" })).state, "running");
});

faultTest("a change whose sidecar died is unknown, and never sent again", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const { "Start-VM": before = 0 } = await world.effects();
  await world.setFaults({ rules: [{ cmdlet: "Start-VM", vm: "web", do: "die", when: "during", times: 1 }] });
  const failure = await lab.failure("vm_start", { vm: "web" });
  assert.equal(failure.code, "hv.outcome_unknown");
  const { operations } = await lab.call("op_list");
  const [latest] = z.array(Operation).parse(operations).filter(({ tool }) => tool === "vm_start");
  assert.equal(latest?.state, "unknown");
  assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "running");
  assert.equal((await world.effects())["Start-VM"], before + 1);
});

faultTest("a job that vanishes is judged by its effect", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({
    rules: [
      { cmdlet: "Start-VM", vm: "web", do: "vanish", times: 1 },
      { cmdlet: "Checkpoint-VM", vm: "web", do: "vanish", times: 1 },
    ],
  });
  assert.equal((await lab.vm("vm_start", { vm: "web" })).state, "running");
  assert.equal((await lab.checkpoint("web", "clean", { memory_state: true })).name, "clean");
});

faultTest("a job that fails says what Hyper-V said", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({ rules: [{ cmdlet: "Start-VM", vm: "web", do: "fail_job", times: 1 }] });
  const failed = await lab.failure("vm_start", { vm: "web" });
  assert.equal(failed.code, "hv.job_failed");
  assert.match(String(failed.context.provider_id), /^OperationFailed,/);
  await world.setFaults({ rules: [{ cmdlet: "Start-VM", vm: "web", do: "no_memory", times: 1 }] });
  const short = await lab.failure("vm_start", { vm: "web" });
  assert.deepEqual([short.code, short.context.reason], ["hv.unavailable", "no_memory"]);
  assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "off");
});

faultTest("a start waits for a merge as long as it may", async ({ lab, world }) => {
  const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  await world.setFaults({ merge_after_stop_seconds: FOR_EVER_S });
  assert.equal((await lab.vm("vm_stop", { vm: "web", mode: "off" })).state, "merging");
  assert.equal((await lab.failure("vm_start", { vm: "web" }, { timeout_s: 0.5 })).code, "hv.timeout");
  const answer = await seeingMerge({ lab, world }, id, { tool: "vm_start", args: { vm: "web" } });
  assert.equal(answer.kind, "done");
});

faultTest(
  "a checkpoint is gone when its disks are merged, and the merge is shown",
  async ({ lab, world }) => {
    const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
    await lab.checkpoint("web", "clean", { memory_state: false });
    await world.setFaults({ merge_seconds: FOR_EVER_S });
    const args = { vm: "web", checkpoint: "clean" };
    const { confirm } = await lab.plan("checkpoint_delete", args);
    await seeingMerge({ lab, world }, id, { tool: "checkpoint_delete", args, confirm });
    assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "off");
    assert.deepEqual(await lab.checkpoints("web"), []);
  },
);

const STEPS = [
  "New-VHD",
  "New-VM",
  "Set-VM",
  "Set-VMMemory",
  "Set-VMProcessor",
  "Connect-VMNetworkAdapter",
  "Rename-VM",
];

faultTest("a making that fails at any step leaves nothing, and the name is free", async ({ lab, world }) => {
  for (const cmdlet of STEPS) {
    await world.setFaults({ rules: [{ cmdlet, do: "fail", times: 1, message: `no ${cmdlet}` }] });
    const failure = await lab.failure("vm_create", { name: "web", ...SMALL });
    assert.match(failure.message, new RegExp(`no ${cmdlet}`));
    assert.deepEqual(failure.context.left_over, [], cmdlet);
    await world.setFaults({});
    assert.deepEqual(await lab.names(), []);
    assert.deepEqual(await foldersOf(world), [], cmdlet);
  }
  await world.setFaults({ rules: [{ cmdlet: "Set-VMProcessor", do: "die", times: 1 }] });
  const failure = await lab.failure("vm_create", { name: "web", ...SMALL });
  assert.deepEqual([failure.code, failure.context.left_over], ["hv.unavailable", []]);
  await lab.call("vm_create", { name: "web", ...SMALL });
  assert.deepEqual(await lab.names(), ["web"]);
});

faultTest("what a killed making left is listed and cleaned up; unknown age stays", async ({ lab, world }) => {
  await using hyperv = openHyperV(world);
  const created_at = new Date(Date.now() - 3_600_000).toISOString();
  for (const when of [created_at, new Date().toISOString(), "soon"]) {
    await world.setFaults({ rules: [{ cmdlet: "Rename-VM", do: "fail", times: 1, message: when }] });
    await assert.rejects(hyperv.make({ name: "web" }, when));
  }
  await world.setFaults({});
  assert.equal((await lab.vm("vm_create", { name: "web", ...SMALL })).name, "web");
  const orphans = z.array(Orphan).parse((await lab.call("vm_orphans")).orphans);
  assert.deepEqual(orphans.map(({ kind }) => kind), ["unfinished_vm", "unfinished_vm"]);
  const { confirm } = await lab.plan("vm_cleanup", {});
  const removed = z.array(Removed).parse((await lab.call("vm_cleanup", {}, { confirm })).removed);
  assert.deepEqual(removed.map((each) => each.removed).sort(), [false, true]);
  assert.equal((await lab.names()).length, 3);
});

faultTest("loading the module is no call's time", async ({ lab, another, world }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await world.setFaults({ import_until: "imported" });
  const clock = new StepClock();
  const fresh = await another(clock);
  const waiting = fresh.call("vm_wait", { vm: "web", until: "off" }, { timeout_s: 2 });
  const mark = `${world.folder}/importing`;
  while (await world.host.files.stat(mark) === undefined) await world.host.clock.sleep(20);
  await clock.advance(3_600_000);
  await Deno.writeTextFile(`${world.folder}/imported`, "");
  assert.equal((await waiting).reached, true);
});

faultTest("a host that wants a server's name gets one, and doctor says so", async ({ lab }) => {
  assert.equal((await lab.vm("vm_create", { name: "web", ...SMALL })).state, "off");
  assert.equal((await lab.vm("vm_start", { vm: "web", until: "heartbeat" })).state, "running");
  const finding = z.array(Finding).parse((await lab.call("doctor")).findings).find(({ check }) =>
    check === "PowerShell"
  );
  assert.match(finding?.finding ?? "", /-ComputerName localhost/);
}, { faults: { null_server: true } });

faultTest("the VM's usual kind of checkpoint is put back, whatever happens", async ({ lab, world }) => {
  await using hyperv = openHyperV(world);
  const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  const usual = (await hyperv.client.getMachine(id, AbortSignal.timeout(300_000))).checkpoint_type;
  const faults: JsonObject[] = [
    {},
    { rules: [{ cmdlet: "Checkpoint-VM", vm: "web", do: "fail_job", times: 1 }] },
    { rules: [{ cmdlet: "Checkpoint-VM", vm: "web", do: "stuck", times: 1 }] },
    { rules: [{ cmdlet: "Checkpoint-VM", vm: "web", do: "die", times: 1 }] },
  ];
  for (const [at, fault] of faults.entries()) {
    await world.setFaults(fault);
    const args = { vm: "web", name: `c${at}`, memory_state: true };
    if (at === 0) await lab.call("checkpoint_create", args);
    else await lab.failure("checkpoint_create", args, { timeout_s: 3 });
    assert.equal(
      (await hyperv.client.getMachine(id, AbortSignal.timeout(300_000))).checkpoint_type,
      usual,
      `c${at}`,
    );
  }
});

faultTest(
  "checkpoints that are made at once are of the kinds that were asked for",
  async ({ lab, world }) => {
    await using hyperv = openHyperV(world);
    const { id } = await lab.vm("vm_create", { name: "web", ...SMALL });
    await lab.call("vm_start", { vm: "web", until: "heartbeat" });
    const kind = async (): Promise<string> =>
      (await hyperv.client.getMachine(id, AbortSignal.timeout(300_000))).checkpoint_type;
    const usual = await kind();
    await world.setFaults({ rules: [{ cmdlet: "Checkpoint-VM", do: "delay", seconds: 1 }] });
    const made = await Promise.all(
      [true, false].map((memory_state) => lab.checkpoint("web", `memory ${memory_state}`, { memory_state })),
    );
    assert.deepEqual(made.map(({ memory_state }) => memory_state), [true, false]);
    assert.equal(await kind(), usual);
    // Each holds the kind that was set for its making.
    for (const { id: checkpoint } of made) {
      await lab.restore("web", checkpoint);
      assert.equal(await kind(), usual);
    }
  },
);

const slowly = new StepClock();

faultTest("a guest that cannot be asked is never cut off", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  const asking = lab.pipeline.call({ tool: "vm_stop", args: { vm: "web" }, timeout_s: 2 }, {
    signal: AbortSignal.timeout(300_000),
    // The time is over as soon as the guest is asked.
    progress({ message }) {
      if (message === "Asking the guest to shut down") void slowly.advance(2_000);
    },
  });
  const failure = await failureOf("hv.timeout", () => asking);
  assert.deepEqual([failure.code, failure.context.asked], ["hv.timeout", false]);
  assert.match(failure.hint ?? "", /--mode off/);
  assert.equal((await lab.vm("vm_get", { vm: "web" })).state, "running");
}, { host: { GuestOs: "none" }, clock: slowly });

faultTest("a deletion takes the VM's own disks and leaves all others", async ({ lab, world }) => {
  const base = await lab.vm("vm_create", { name: "base", ...SMALL });
  const own = (await lab.plan("vm_delete", { vm: "base" })).preview.losses.find(({ what }) =>
    what === "disk"
  );
  assert.ok(own?.path !== undefined);
  await lab.call("vm_create", { name: "child", memory_mb: 64, parent_disk: own.path });
  const disk = `${lab.root}/data.vhdx`;
  await lab.call("disk_create", { path: disk, size_bytes: 64 * 1024 * 1024 });
  await lab.call("vm_create", { name: "user", memory_mb: 64, disk });
  await runShell(world, `Add-VMHardDiskDrive -VMName user -ControllerType SCSI -Path '${own.path}'`);
  await lab.call("vm_delete", { vm: "child" }, { confirm: "child" });
  await lab.call("vm_delete", { vm: "user" }, { confirm: "user" });
  for (const path of [disk, own.path]) assert.ok((await Deno.stat(path)).isFile);
  const removed = await lab.call("vm_delete", { vm: base.id }, { confirm: "base" });
  assert.ok(Array.isArray(removed.files) && removed.files.includes(own.path));
  assert.deepEqual(await foldersOf(world), []);
});

faultTest("a report holds what the open points ask for, and no name or path", async ({ lab, world }) => {
  await lab.call("vm_create", { name: "secret vm", ...SMALL });
  await lab.call("vm_start", { vm: "secret vm" });
  await lab.checkpoint("secret vm", "secret point", { memory_state: true });
  const { report, findings } = await lab.call("doctor", { report: true });
  assert.equal(findings, undefined);
  const { provider } = z.object({ provider: z.record(z.string(), z.unknown()) }).parse(report);
  const document = await Deno.readTextFile(`${ROOT}/docs/windows-open-points.md`);
  const named = [...document.matchAll(/`provider\.([a-z_.A-Z-]+)`/g)].map(([, path = ""]) => path);
  assert.ok(named.length > 10);
  for (const path of named) assert.notEqual(valueAt(provider, path.split(".")), undefined, path);
  const errors = z.record(z.string(), z.object({ id: z.optional(z.string()) })).parse(provider.errors);
  assert.match(errors.missing_id?.id ?? "", /^ObjectNotFound,/);
  const text = JSON.stringify(report);
  const { id } = await lab.vm("vm_get", { vm: "secret vm" });
  for (const secret of ["secret", id.slice(3), world.folder, "SIMHOST"]) {
    assert.ok(!text.toLowerCase().includes(secret.toLowerCase()), secret);
  }
  const output = `${lab.root}/report.json`;
  assert.equal((await lab.call("doctor", { report: true, output })).output, output);
  assert.equal(JSON.parse(await Deno.readTextFile(output)).report, 1);
  assert.equal((await lab.failure("doctor", { report: true, output })).code, "hv.conflict");
  assert.equal((await lab.failure("doctor", { output })).code, "hv.usage");
  assert.equal(operationsOf((await lab.call("op_list")).operations, "doctor").length, 3);
});

faultTest("a report is made of a host that refuses everything too", async ({ lab, world }) => {
  await world.setFaults({ permission: "denied" });
  const { report, healthy } = await lab.call("doctor", { report: true });
  assert.equal(healthy, false);
  const all = z.object({ provider: z.object({ errors: z.object({ all: z.object({ id: z.string() }) }) }) });
  assert.match(all.parse(report).provider.errors.all.id, /,/);
});

endSharedHost();

/** Makes a call that waits for a merge, which ends once the call has told of it. */
async function seeingMerge(
  { lab, world }: Pick<HyperVLab, "lab" | "world">,
  id: string,
  request: CallRequest,
): Promise<CallAnswer> {
  let ended: Promise<void> | undefined;
  const messages: string[] = [];
  const answer = await lab.pipeline.call(request, {
    signal: AbortSignal.timeout(300_000),
    progress({ message }) {
      messages.push(message);
      if (/merging disks \d+ %/.test(message)) ended ??= world.endWork(id);
    },
  });
  assert.ok(ended !== undefined, messages.join("; "));
  await ended;
  return answer;
}

/** The client beneath the driver, for what the driver refuses to do. */
function openHyperV(world: HyperVWorld): AsyncDisposable & {
  client: HyperV;
  make(parts: Pick<MachineParts, "name">, created?: string): Promise<string>;
} {
  const client = new HyperV(world.host);
  return {
    client,
    async make({ name }, created = new Date().toISOString()) {
      const passing = `hvlab-${crypto.randomUUID()}`;
      const tag = { key: passing, created_at: created };
      const parts: MachineParts = {
        ...{
          passing,
          name,
          generation: 2,
          memory_bytes: 64 * 1024 * 1024,
          cpus: DEFAULT_CONFIG.defaults.cpus,
        },
        ...{ notes: writeTag({ ...tag, making: true }), final_notes: writeTag({ ...tag, making: false }) },
        ...{ disk_bytes: null, disk: null, parent_disk: null, iso: null, switch: null, network: false },
        secure_boot: null,
        tpm: false,
      };
      return `vm-${(await client.makeMachine(parts, { signal: AbortSignal.timeout(300_000) })).id}`;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function foldersOf(world: HyperVWorld): Promise<string[]> {
  const folders: string[] = [];
  for await (const { name } of Deno.readDir(`${world.folder}/configuration`)) {
    if (name.startsWith("hvlab-")) folders.push(name);
  }
  return folders;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isPlainObject(value) ? valueAt(value[name], rest) : undefined;
}

function operationsOf(operations: unknown, tool: string): string[] {
  return z.array(Operation).parse(operations).flatMap((operation) =>
    operation.tool === tool ? [operation.state] : []
  );
}

function statusOf(findings: unknown, check: string): string | undefined {
  return z.array(Finding).parse(findings).find((finding) => finding.check === check)?.status;
}
