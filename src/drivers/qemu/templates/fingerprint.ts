/**
 * What a template depends on. A frozen machine goes on only in a machine that is the same in every part: the same
 * QEMU, machine type, processor, devices and memory size (found on QEMU 7.2). The fingerprint is the digest of all.
 */

import { canonicalJson, sha256Hex } from "../../../base/json.ts";
import { uuidOf } from "../../../base/ids.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import type { Image, ImageFile } from "../../../contract/image.ts";
import { knownAcceleration, probeAcceleration } from "../launch/acceleration.ts";
import { type Accelerator, accelerator as rowOf } from "../launch/accelerators.ts";
import { machineArguments } from "../launch/argv.ts";
import type { Boot } from "../launch/machine_plan.ts";
import type { QemuContext } from "../context.ts";
import { readQemuProgram } from "../launch/program.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** Raised when templates of older versions can no longer be used. */
export const TEMPLATE_FORMAT = 1;

/** Everything that decides whether a template fits. */
export interface TemplateKey {
  format: number;
  qemu: { path: string; version: string; size_bytes: number; modified: number };
  machine: string;
  accelerator: Accelerator;
  /** The host's processor, where guests see it; empty under emulation. */
  host_cpu: string;
  memory_mb: number;
  cpus: number;
  /** Digests of the image's files by role. */
  files: Partial<Record<ImageFile["role"], string>>;
  /** The whole argument vector, with everything that is one VM's own left out. */
  arguments: string[];
}

/** The size that a template was made for. */
export interface MachineSize {
  memory_mb: number;
  cpus: number;
}

/** What a template of this image and size depends on here and now. `remember` writes what had to be found out. */
export async function readTemplateKey(
  context: QemuContext,
  image: Image,
  size: MachineSize,
  options: { remember: boolean; signal: AbortSignal },
): Promise<TemplateKey> {
  const { signal, remember } = options;
  const [qemu, known] = await waitForAll([
    readQemuProgram(context, { remember, signal }),
    remember ? probeAcceleration(context, signal) : knownAcceleration(context),
  ]);
  const accelerator = known?.accelerator ?? "tcg";
  const [facts, hostCpu] = await waitForAll([
    context.host.files.stat(qemu.path, { follow: true }),
    rowOf(accelerator).cpu === "host" ? readHostCpu(context, signal) : "",
  ]);
  return {
    format: TEMPLATE_FORMAT,
    qemu: {
      path: qemu.path,
      version: qemu.version,
      size_bytes: facts?.size_bytes ?? 0,
      modified: facts?.modified ?? 0,
    },
    machine: qemu.machine,
    accelerator,
    host_cpu: hostCpu,
    memory_mb: size.memory_mb,
    cpus: size.cpus,
    files: Object.fromEntries(image.files.map(({ role, sha256 }) => [role, sha256])),
    arguments: shapeOf(image, { machine: qemu.machine, accelerator, ...size }),
  };
}

/** The name that a template of this key has. */
export async function fingerprintOf(key: TemplateKey): Promise<string> {
  return (await sha256Hex(canonicalJson(key))).slice(0, 32);
}

/** In which points two keys differ, as `what: was -> is`; the size comes first, as people choose it. */
export function differencesOf(was: TemplateKey, is: TemplateKey): string[] {
  const found: string[] = [];
  const compare = (what: string, before: unknown, now: unknown): void => {
    if (canonicalJson(before) === canonicalJson(now)) return;
    const isShort = typeof before !== "object" && typeof now !== "object";
    found.push(isShort ? `${what} is ${String(now)} and was ${String(before)}` : `${what} differs`);
  };
  compare("the memory in MiB", was.memory_mb, is.memory_mb);
  compare("the number of processors", was.cpus, is.cpus);
  compare("the QEMU program", was.qemu, is.qemu);
  compare("the machine type", was.machine, is.machine);
  compare("the accelerator", was.accelerator, is.accelerator);
  compare("the host's processor", was.host_cpu, is.host_cpu);
  compare("the image", was.files, is.files);
  compare("hvlab's template format", was.format, is.format);
  if (found.length === 0) compare("the machine's shape", was.arguments, is.arguments);
  return found;
}

const NOBODY = "vm-00000000-0000-4000-8000-000000000000";

/** The argument vector of such a machine, with fixed words for what differs between two of them. */
function shapeOf(
  image: Image,
  machine: MachineSize & { machine: string; accelerator: Accelerator },
): string[] {
  const boot: Boot = image.kind === "disk"
    ? { kind: "disk", path: "disk", format: "qcow2" }
    : { kind: "kernel", kernel: "kernel", initrd: "initrd", append: image.append ?? "" };
  return machineArguments({
    ...machine,
    uuid: uuidOf(NOBODY),
    name: "nobody",
    boot,
    runtime: new RuntimeFolder("runtime"),
    ramFile: { path: "ram", shared: false },
    serialLog: "serial.log",
    confined: true,
  });
}

/** A guest may see the host's own processor, so a template does not survive a move to another one. */
async function readHostCpu({ host }: QemuContext, signal: AbortSignal): Promise<string> {
  const finished = await host.processes.run("cat", ["/proc/cpuinfo"], { signal });
  const text = new TextDecoder().decode(finished.stdout);
  const line = (name: string): string => new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(text)?.[1] ?? "";
  return `${line("model name")}; ${line("flags")}`;
}
