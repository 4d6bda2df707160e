/**
 * Whether this host's accelerator can run guests. That it exists proves nothing: there are KVMs that open without error
 * and then interpret every guest instruction, or stop with an internal error (both seen on a `kvm-pvm` host).
 */

import { HvError, toHvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { type Accelerator, accelerator, hardwareOf, isAccelerator } from "./accelerators.ts";
import { BOOT_SECTOR_EXIT_CODE, bootDisk } from "./boot_sector.ts";
import { QEMU, type QemuContext } from "../context.ts";

/** How guests run on this host, and why so. */
export interface Acceleration {
  accelerator: Accelerator;
  reason: string;
}

const KEY = "qemu/acceleration";

/** What is known without a guest: the reason why an accelerator cannot serve, or nothing. */
const RULE_OUTS: Partial<
  Record<Accelerator, (context: QemuContext, signal?: AbortSignal) => Promise<string | undefined>>
> = { kvm: whyNoKvm, tcg: (context) => Promise.resolve(`${context.host.os} has no other accelerator`) };

/** What was found out since the host booted; `undefined` when nobody has probed yet. */
export async function knownAcceleration(context: QemuContext): Promise<Acceleration | undefined> {
  const value = await context.findings.get(KEY);
  if (!isPlainObject(value) || typeof value.reason !== "string") return undefined;
  const { accelerator, reason } = value;
  return isAccelerator(accelerator) ? { accelerator, reason } : undefined;
}

/** The part of the probe that starts no guest: answers `tcg` when the host's accelerator is out of the question. */
export async function ruleOutHardware(
  context: QemuContext,
  signal?: AbortSignal,
): Promise<Acceleration | undefined> {
  const reason = await RULE_OUTS[hardwareOf(context.host.os).name]?.(context, signal);
  return reason === undefined ? undefined : emulation(reason);
}

async function whyNoKvm(context: QemuContext, signal?: AbortSignal): Promise<string | undefined> {
  const flags = cpuFlags(await readWithCat(context, "/proc/cpuinfo", signal));
  const vendor = flags.has("vmx") ? "kvm_intel" : flags.has("svm") ? "kvm_amd" : undefined;
  if (vendor === undefined) return "The processor shows neither vmx nor svm to this host";
  const modules = await readWithCat(context, "/proc/modules", signal);
  const loaded = modules.split("\n").some((line) => line.startsWith(`${vendor} `));
  // A kernel with KVM built in lists no module; the boot of a real guest then decides alone.
  const anyKvm = modules.split("\n").some((line) => line.startsWith("kvm"));
  return !loaded && anyKvm ? `The kernel module ${vendor} is not loaded` : undefined;
}

/** Finds out how guests run here and remembers it until the host boots again. For changing calls only. */
export async function probeAcceleration(context: QemuContext, signal?: AbortSignal): Promise<Acceleration> {
  const known = await knownAcceleration(context);
  if (known !== undefined) return known;
  const found = await ruleOutHardware(context, signal) ?? await bootUnderHardware(context, signal);
  await remember(context, found);
  return found;
}

/** Marks this host's accelerator as unfit after it failed a running guest. */
export async function distrustHardware(context: QemuContext, reason: string): Promise<Acceleration> {
  const found = emulation(reason);
  await remember(context, found);
  return found;
}

/** Whether a start failed in the accelerator: QEMU then gives up, or aborts on an assertion of its code for it. */
export function isAcceleratorFailure(name: Accelerator, error: unknown): error is HvError {
  return error instanceof HvError && error.code === "hv.job_failed" &&
    accelerator(name).failure?.test(String(error.context.qemu ?? "")) === true;
}

async function remember(context: QemuContext, found: Acceleration): Promise<void> {
  await context.findings.put(KEY, { accelerator: found.accelerator, reason: found.reason });
}

function emulation(reason: string): Acceleration {
  return { accelerator: "tcg", reason };
}

/** Deno refuses procfs to a program without every permission; `cat` may read it. */
async function readWithCat({ host }: QemuContext, path: string, signal?: AbortSignal): Promise<string> {
  const finished = await host.processes.run("cat", [path], signal === undefined ? {} : { signal });
  return new TextDecoder().decode(finished.stdout);
}

function cpuFlags(cpuinfo: string): Set<string> {
  return new Set((/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "").trim().split(/\s+/));
}

async function bootUnderHardware(context: QemuContext, signal?: AbortSignal): Promise<Acceleration> {
  const { host } = context;
  const { name, label, bootLimitMs } = hardwareOf(host.os);
  const folder = await host.files.makeTemporaryFolder("hvlab-probe-");
  try {
    const disk = joinPath(folder, "boot.img");
    {
      using writer = await host.files.create(disk);
      await writer.write(bootDisk());
    }
    const started = host.clock.monotonic();
    const limit = AbortSignal.timeout(bootLimitMs);
    const finished = await host.processes.run(QEMU, probeArguments(disk, name), {
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const took = Math.round(host.clock.monotonic() - started);
    if (finished.code === BOOT_SECTOR_EXIT_CODE) {
      return { accelerator: name, reason: `${label} ran a boot sector in ${took} ms` };
    }
    const words = new TextDecoder().decode(finished.stderr).trim().split("\n")[0] ?? "";
    return emulation(
      `${label} did not run a boot sector: ${words || `QEMU ended with code ${finished.code}`}`,
    );
  } catch (error) {
    signal?.throwIfAborted();
    const late = error instanceof DOMException && error.name === "TimeoutError";
    const words = late ? `not done within ${bootLimitMs} ms` : toHvError(error).message;
    return emulation(`${label} did not run a boot sector: ${words}`);
  } finally {
    await host.files.remove(folder);
  }
}

/** A machine just big enough for the boot sector, which ends it through a debug port. */
export function probeArguments(disk: string, accelerator: Accelerator): string[] {
  const drive = {
    "driver": "raw",
    "node-name": "boot",
    "read-only": true,
    "file": { driver: "file", filename: disk },
  };
  return [
    ...["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
    ...["-machine", "pc", "-accel", accelerator, "-m", "16"],
    ...["-blockdev", JSON.stringify(drive), "-device", "virtio-blk-pci,drive=boot"],
    ...["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"],
  ];
}
