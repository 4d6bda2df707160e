/**
 * Runs inside a guest that has a KVM of its own: what the driver finds out about it, and a VM that runs under it. Prints
 * one JSON object. Argument: a folder to work in.
 */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import { probeArguments, ruleOutHardware } from "../../src/drivers/qemu/launch/acceleration.ts";
import { bootDisk } from "../../src/drivers/qemu/launch/boot_sector.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { openHurriedHost } from "./hurried_host.ts";
import { MemoryFindings } from "./qemu_context.ts";

/** What was seen. */
export interface KvmTrial {
  /** Why KVM was ruled out without a guest; `null` when it was not. */
  ruled_out: string | null;
  /** The exit code of a QEMU that ran the probe's boot sector. */
  boot_sector: number;
  state: string;
  acceleration: string | undefined;
  after_stop: string;
}

const LIMIT_MS = 120_000;
/** Two levels of emulation: the driver's own limits are five times as long here. */
const HURRY = 0.2;

if (import.meta.main) {
  const [root = ""] = Deno.args;
  const findings = new MemoryFindings();
  const host = openHurriedHost(HURRY);
  const context = { host, state: new StateFolder(`${root}/state`), config: DEFAULT_CONFIG, findings };
  const scope: CallScope = { signal: AbortSignal.timeout(LIMIT_MS), progress: () => {} };
  const ruledOut = await ruleOutHardware(context, scope.signal);
  await Deno.writeFile(`${root}/boot.img`, bootDisk());
  const { code } = await host.processes.run("qemu-system-x86_64", probeArguments(`${root}/boot.img`, "kvm"));
  // An emulated host is too slow for the probe's limit; what the probe would say is said here.
  await findings.put("qemu/acceleration", { accelerator: "kvm", reason: "tried above" });
  const driver = openQemuDriver(context);
  const spec = { name: "inner", memory_mb: 32, cpus: 1, disk_size_mb: 16, network: false };
  const id = await driver.vms.create(spec, scope);
  await driver.vms.start(id, scope);
  const { state, acceleration } = await driver.vms.get(id, scope.signal);
  await driver.vms.stop(id, "off", scope);
  const after = await driver.vms.get(id, scope.signal);
  await driver.close();
  const trial: KvmTrial = {
    ruled_out: ruledOut?.reason ?? null,
    boot_sector: code,
    state,
    acceleration,
    after_stop: after.state,
  };
  console.log(JSON.stringify(trial));
}
