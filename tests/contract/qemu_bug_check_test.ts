/**
 * A guest that reports a bug check through Hyper-V's crash registers, which exist under KVM only. On hosts without KVM
 * the machine runs under the KVM of a guest, and everything of hvlab, its keeper included, here.
 */

import assert from "node:assert/strict";
import type { JsonObject } from "../../src/base/json.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { MonitorRole } from "../../src/drivers/qemu/runtime_folder.ts";
import type { Reach } from "../../src/drivers/network_abilities.ts";
import type { Host } from "../../src/host/host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { Pipeline } from "../../src/tools/call.ts";
import { Session } from "../../src/tools/session.ts";
import { catalogue } from "../../src/tools/table.ts";
import type { CallOptions } from "../../src/tools/tool.ts";
import { bugCheckDisk, READY } from "../support/bug_check_sector.ts";
import { hurriedClock } from "../support/hurried_host.ts";
import { INSIDE, startKvmGuest, whyNoKvmGuest } from "../support/kvm_guest.ts";
import { MONITOR_PORTS, nestedHost } from "../support/nested_host.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { readPng } from "../support/read_png.ts";
import { lived, startKeeper } from "../support/test_keeper.ts";

/** Two levels of emulation: hvlab's own limits are five times as long here. */
const HURRY = 0.2;

const REPORTED = [0x139n, 3n, 0xffff_f880_1234_5678n, 0xbbbbn, 0n] as const;
const PARAMETERS = ["0x3", "0xfffff88012345678", "0xbbbb", "0x0"];
const NAME = "KERNEL_SECURITY_CHECK_FAILURE";

const reason = whyNoKvmGuest();
qemuTest(
  `a bug check is told by its code, its name and its parameters as soon as the guest reports it${
    reason === undefined ? "" : ` (not here: ${reason})`
  }`,
  async (lab) => {
    const folder = `${lab.state.root}/inner`;
    await Deno.mkdir(`${folder}/run`, { recursive: true, mode: 0o700 });
    const { vm, channel } = await startKvmGuest(lab, {
      memory_mb: 512,
      folders: [{ host: folder, guest: INSIDE + folder, read_only: false }],
    });
    await using keeper = await reach(lab, vm.id, "keeper");
    await using calls = await reach(lab, vm.id, "calls");
    await using rescue = await reach(lab, vm.id, "rescue");
    const host = nestedHost(hostIn(folder, lab), {
      channel,
      root: INSIDE,
      monitors: { keeper, calls, rescue },
      signal: lab.scope.signal,
    });
    await stopAndTell({ ...lab, host, state: new StateFolder(`${folder}/state`) }, folder);
    await lab.driver.vms.remove(vm.id, lab.scope);
  },
  reason === undefined,
);

/** Runs a guest that reports a bug check, and looks at it as a user does. */
async function stopAndTell(
  { host, state, scope }: Pick<QemuLab, "host" | "state" | "scope">,
  folder: string,
): Promise<void> {
  await using session = new Session({
    host,
    state,
    config: DEFAULT_CONFIG,
    door: "cli",
    catalogue,
    startKeeper: () => Promise.reject(new Error("the keeper below lives all the time")),
  });
  // An emulated host is too slow for the probe's limit; what the probe would say is said here.
  const finding = { accelerator: "kvm", reason: "known" };
  await (await session.store()).findings.put("qemu/acceleration", finding);
  await using _keeper = await startKeeper({ host, state });
  const pipeline = new Pipeline(session);
  const call = async (tool: string, args: JsonObject, options: CallOptions = {}): Promise<JsonObject> => {
    const answer = await pipeline.call({ tool, args, ...options }, scope);
    assert.ok(answer.kind === "done");
    return answer.result;
  };

  await Deno.writeFile(`${folder}/stop.img`, bugCheckDisk(REPORTED));
  await call("image_import", { name: "stop", disk: `${folder}/stop.img` });
  const { id } = await call("vm_create", { name: "win", image: "stop", memory_mb: 32, network: false });
  const { acceleration } = await call("vm_start", { vm: "win" });
  assert.equal(acceleration, "kvm");
  // Whoever has told of the start hears all that follows.
  assert.deepEqual(await lived({ host, state, scope }, String(id), 1), ["started"]);
  await call("console_wait", { vm: "win", serial: READY });
  await call("vm_nmi", { vm: "win" }, { confirm: "win" });

  const { reached, vm } = await call("vm_wait", { vm: "win", until: "crash" });
  assert.deepEqual([reached, Object(vm).state], [true, "crashed"]);
  assert.equal(
    Object(vm).state_reason,
    `Windows reported the bug check 0x00000139 ${NAME} (${PARAMETERS.join(", ")})`,
  );

  assert.deepEqual(await lived({ host, state, scope }, String(id), 2), ["started", "crashed"]);
  const { events } = await call("vm_events", { vm: "win" });
  const { details } = Object(events)[1];
  assert.equal(details.action, "pause");
  assert.deepEqual(details.bug_check, { code: "0x00000139", parameters: PARAMETERS, name: NAME });
  assert.ok(readPng(Deno.readFileSync(details.screenshot)).width > 0);

  const { state: after } = await call("vm_stop", { vm: "win", mode: "off" });
  assert.equal(after, "off");
}

async function reach({ driver, scope }: QemuLab, id: string, role: MonitorRole): Promise<Reach> {
  assert.ok(driver.forwards !== undefined);
  return await driver.forwards.reach(id, MONITOR_PORTS[role], scope.signal);
}

/** The lab's host with a runtime folder that the guest has as well. */
function hostIn(folder: string, { host }: QemuLab): Host {
  const { environment } = host;
  return {
    ...host,
    clock: hurriedClock(HURRY),
    environment: {
      get: (name) => environment.get(name),
      configFolder: () => environment.configFolder(),
      stateFolder: () => environment.stateFolder(),
      runtimeFolder: () => `${folder}/run`,
    },
  };
}
