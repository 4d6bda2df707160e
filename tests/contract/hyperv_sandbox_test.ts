/** Images and sandboxes on Hyper-V. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { Orphan, Removed } from "../../src/contract/vm.ts";
import type { Lab } from "../contract/lab.ts";
import { faultTest } from "../support/hyperv_lab.ts";
import { setLease } from "../support/hyperv_lease.ts";
import { type HyperVWorld, runShell } from "../support/hyperv_world.ts";
import { hvlabCommand, hvlabEnvironment } from "../support/program.ts";

const SIZE = { memory_mb: 64 };

faultTest("an image is a disk that stands alone, and no VM changes it", async ({ lab, world }) => {
  const disk = await makeDisk(world, "base.vhdx");
  const image = await lab.call("image_import", { name: "win", disk });
  const { simulated, ...whole } = image;
  assert.equal(simulated, true);
  assert.deepEqual((await lab.call("image_list")).images, [whole]);
  const [file] = z.array(z.object({ path: z.string(), format: z.string() })).parse(image.files);
  assert.ok(file?.format === "vhdx");
  assert.deepEqual(await Deno.readFile(file.path), await Deno.readFile(disk));
  assert.equal((await lab.failure("image_import", { name: "win", disk })).code, "hv.conflict");
  const child = `${world.folder}/child.vhdx`;
  await runShell(world, `New-VHD '${child}' -ParentPath '${disk}' -Differencing > $null`);
  await Deno.writeTextFile(`${world.folder}/noise.vhdx`, "no disk");
  for (const path of [child, `${world.folder}/noise.vhdx`]) {
    assert.equal((await lab.failure("image_import", { name: "bad", disk: path })).code, "hv.bad_image", path);
  }
  assert.equal((await lab.failure("image_import", { name: "bad", kernel: disk })).code, "hv.usage");
  assert.deepEqual((await lab.call("image_list")).images, [whole]);
  const vm = await lab.vm("vm_create", { name: "web", image: "win", ...SIZE });
  assert.deepEqual([vm.image, vm.generation, vm.sandbox], ["win", 2, false]);
  const before = await Deno.readFile(file.path);
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
  assert.deepEqual(await Deno.readFile(file.path), before);
  assert.equal((await lab.failure("vm_create", { name: "a", image: "none" })).code, "hv.not_found");
}, {});

faultTest("a run in a sandbox answers like a program and leaves nothing", async ({ lab, world }) => {
  await importDisk(lab, world);
  const argv = ["pwsh", "-NoProfile", "-Command", "'out'; exit 7"];
  const result = await lab.call("sandbox_run", { image: "win", argv, ...SIZE });
  assert.deepEqual([result.exit_code, result.stdout], [7, "out\n"]);
  const failed = await lab.failure("sandbox_run", { image: "win", argv: ["no-such-program"], ...SIZE });
  assert.equal(failed.code, "hv.not_found");
  await world.setFaults({ rules: [{ cmdlet: "Start-VM", do: "no_memory", times: 1 }] });
  const short = await lab.failure("sandbox_create", { image: "win", ...SIZE });
  assert.equal(short.context.reason, "no_memory");
  assert.deepEqual([await lab.names(), (await lab.call("vm_orphans")).orphans], [[], []]);
}, {});

faultTest("a sandbox lives by its lease and needs no plan", async ({ lab, world }) => {
  await importDisk(lab, world);
  const box = await lab.vm("sandbox_create", { image: "win", name: "box", ttl_s: 60, ...SIZE });
  assert.deepEqual([box.sandbox, box.state, box.image], [true, "running", "win"]);
  await lab.call("vm_create", { name: "web", image: "win", ...SIZE });
  assert.equal((await lab.failure("sandbox_destroy", { vm: "web" })).code, "hv.policy_denied");
  const { sandboxes } = await lab.call("sandbox_list");
  assert.deepEqual(z.array(z.object({ id: z.string() })).parse(sandboxes).map(({ id }) => id), [box.id]);
  await setLease(world, box.id, "soon");
  const [unknown] = z.array(Orphan).parse((await lab.call("vm_orphans")).orphans);
  assert.match(unknown?.reason ?? "", /never removed/);
  const { confirm } = await lab.plan("vm_cleanup", {});
  const removed = z.array(Removed).parse((await lab.call("vm_cleanup", {}, { confirm })).removed);
  assert.deepEqual(removed.map((each) => each.removed), [false]);
  await setLease(world, box.id, new Date(Date.now() - 1000).toISOString());
  const [ended] = z.array(Orphan).parse((await lab.call("vm_orphans")).orphans);
  assert.deepEqual([ended?.kind, ended?.id], ["sandbox_expired", box.id]);
  await lab.call("vm_create", { name: "db", image: "win", ...SIZE });
  assert.deepEqual(await lab.names(), ["db", "web"]);
  await lab.call("sandbox_create", { image: "win", name: "box", ...SIZE });
  assert.equal((await lab.call("sandbox_destroy", { vm: "box" })).removed, true);
}, {});

faultTest("a killed run's sandbox ends with it", async ({ lab, world }) => {
  await importDisk(lab, world);
  const home = `${lab.root}/home`;
  await Deno.mkdir(home);
  const line = ["--driver", "hyperv", "sandbox", "run", "win", "--memory", "64M", "--", "sleep", "600"];
  const { program, args } = hvlabCommand(line);
  const ours = new Set(await world.sidecars());
  const state = `${lab.root}/state`;
  const shell = (await world.host.processes.find("pwsh")) ?? "";
  const env = {
    PATH: `${Deno.env.get("PATH") ?? ""}:${shell.slice(0, shell.lastIndexOf("/"))}`,
    HVLAB_HYPERV_SIM: world.folder,
    HVLAB_STATE: state,
    HVLAB_GUEST_USER: "lab",
    HVLAB_GUEST_PASSWORD: "lab",
  };
  await using child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: hvlabEnvironment({ env, home }),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const running = async (): Promise<boolean> => {
    const { sandboxes } = await lab.call("sandbox_list");
    return z.array(z.object({ state: z.string() })).parse(sandboxes).some((box) => box.state === "running");
  };
  while (!await running()) await world.host.clock.sleep(100);
  child.kill("SIGKILL");
  await child.status;
  while ((await lab.names()).length > 0) await world.host.clock.sleep(100);
  assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
  // Its sidecar, which has removed the sandbox, goes a moment later.
  while ((await world.livingSidecars()).some((pid) => !ours.has(pid))) await world.host.clock.sleep(100);
}, {});

async function makeDisk(world: HyperVWorld, name: string): Promise<string> {
  const path = `${world.folder}/${name}`;
  if (await world.host.files.stat(path) === undefined) {
    await runShell(world, `New-VHD '${path}' -SizeBytes 64MB -Dynamic > $null`);
  }
  return path;
}

async function importDisk(lab: Lab, world: HyperVWorld): Promise<void> {
  await lab.call("image_import", { name: "win", disk: await makeDisk(world, "base.vhdx") });
}
