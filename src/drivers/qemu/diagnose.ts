/** Whether this host can do the driver's work. Looks only; what needs a guest to be started is left to changing calls. */

import { toHvError } from "../../base/errors.ts";
import type { Finding } from "../../contract/finding.ts";
import { knownAcceleration, ruleOutHardware } from "./launch/acceleration.ts";
import { EMULATION, hardwareOf } from "./launch/accelerators.ts";
import { folderOf as folderAbove } from "../../base/paths.ts";
import type { QemuContext } from "./context.ts";
import { findQemuImg, readQemuProgram } from "./launch/program.ts";
import { RuntimeFolder, SOCKET_PATH_LIMIT } from "./runtime_folder.ts";
import { findShareWays, lackOf } from "./shares.ts";

/** Programs that the driver asks, and what is missing without each. */
const TOOLS: readonly { program: string; package: string; without: string }[] = [
  { program: "ps", package: "procps", without: "a VM whose monitor is silent cannot be seen" },
  { program: "kill", package: "procps", without: "a VM that hangs cannot be ended" },
  {
    program: "setpriv",
    package: "util-linux",
    without: "`sandbox run` cannot tie a sandbox to its own life",
  },
  { program: "prlimit", package: "util-linux", without: "no VM can be started within its limits" },
  { program: "nice", package: "coreutils", without: "no VM can be started within its limits" },
  { program: "cat", package: "coreutils", without: "the processor's abilities cannot be read" },
];
const LOW_DISK_BYTES = 1024 * 1024 * 1024;
/** With less than this neither the store nor a VM's record can be written with any certainty. */
const FULL_DISK_BYTES = 16 * 1024 * 1024;
/** A uuid of no VM, for the length of a runtime folder's path. */
const ANY_VM = "vm-00000000-0000-4000-8000-000000000000";

/** All findings of the driver, each check on its own. Never throws for what it finds. */
export async function diagnose(context: QemuContext, signal: AbortSignal): Promise<Finding[]> {
  const checks: [string, () => Promise<Omit<Finding, "check">>][] = [
    ["qemu", () => checkQemu(context, signal)],
    ["qemu-img", () => checkQemuImg(context)],
    ["acceleration", () => checkAcceleration(context, signal)],
    ["programs", () => checkTools(context)],
    ["runtime folder", () => checkRuntimeFolder(context)],
    ["shared folders", () => checkShares(context, signal)],
    ["tpm", () => checkTpm(context)],
    ["disk space", () => checkDiskSpace(context, signal)],
  ];
  return await Promise.all(checks.map(async ([check, look]) => {
    try {
      return { check, ...await look() };
    } catch (error) {
      signal.throwIfAborted();
      const { message, hint } = toHvError(error);
      return {
        check,
        status: "broken" as const,
        finding: message,
        ...(hint === undefined ? {} : { fix: hint }),
      };
    }
  }));
}

async function checkQemu(context: QemuContext, signal: AbortSignal): Promise<Omit<Finding, "check">> {
  const { path, version, machine } = await readQemuProgram(context, { remember: false, signal });
  return { status: "ok", finding: `QEMU ${version} at ${path}, machine type ${machine}` };
}

async function checkQemuImg(context: QemuContext): Promise<Omit<Finding, "check">> {
  return { status: "ok", finding: `qemu-img at ${await findQemuImg(context)}` };
}

async function checkAcceleration(context: QemuContext, signal: AbortSignal): Promise<Omit<Finding, "check">> {
  const hardware = hardwareOf(context.host.os);
  const found = await knownAcceleration(context) ?? await ruleOutHardware(context, signal);
  const untested = hardware.tested ? "" : "; hvlab has not been tested with it";
  if (found === undefined) {
    return {
      status: "warning",
      finding:
        `Guests may run under ${hardware.label} here; it has not been tried since this host booted${untested}`,
      fix: "Start any VM: that tries it once",
    };
  }
  if (found.accelerator === EMULATION.name) {
    return {
      status: "warning",
      finding: `Guests are emulated (TCG), which is slow: ${found.reason}`,
      fix: hardware.fix,
    };
  }
  return {
    status: hardware.tested ? "ok" : "warning",
    finding: `Guests run under ${hardware.label}: ${found.reason}${untested}`,
    ...(hardware.tested ? {} : { fix: "Report what does not work" }),
  };
}

async function checkTools({ host }: QemuContext): Promise<Omit<Finding, "check">> {
  if (host.os !== "linux") return { status: "ok", finding: "Nothing else is needed on this system" };
  const places = await Promise.all(TOOLS.map(({ program }) => host.processes.find(program)));
  const missing = TOOLS.filter((_, index) => places[index] === undefined);
  if (missing.length === 0) {
    return { status: "ok", finding: `${TOOLS.map(({ program }) => program).join(", ")} are on PATH` };
  }
  return {
    status: "broken",
    finding: missing.map(({ program, without }) => `${program} is missing: ${without}`).join("; "),
    fix: `Run: apt-get install ${[...new Set(missing.map((tool) => tool.package))].join(" ")}`,
  };
}

async function checkShares(context: QemuContext, signal: AbortSignal): Promise<Omit<Finding, "check">> {
  const ways = await findShareWays(context, signal);
  const lack = lackOf(ways);
  const has = [
    ...("path" in ways.virtiofsd ? [`virtiofs by ${ways.virtiofsd.path}`] : []),
    ...(ways.has9p ? ["9p by QEMU itself"] : []),
  ];
  if (has.length === 0) {
    return {
      status: "warning",
      finding: `Folders cannot be shared with guests: ${lack.join("; ")}`,
      fix: "Run: apt-get install qemu-system-common",
    };
  }
  return {
    status: "ok",
    finding: [`Guests can have folders through ${has.join(" and ")}`, ...lack].join("; "),
  };
}

async function checkTpm(context: QemuContext): Promise<Omit<Finding, "check">> {
  const path = await context.host.processes.find("swtpm");
  if (path !== undefined) return { status: "ok", finding: `VMs can have a TPM: swtpm at ${path}` };
  return {
    status: "warning",
    finding: "VMs cannot have a TPM: swtpm is not installed",
    fix: "Run: apt-get install swtpm",
  };
}

async function checkRuntimeFolder({ host }: QemuContext): Promise<Omit<Finding, "check">> {
  const folder = host.environment.runtimeFolder();
  const facts = await host.files.stat(folder);
  const longest = new TextEncoder().encode(RuntimeFolder.of(host, ANY_VM).monitor("keeper")).length;
  const us = host.machine.userId();
  const fix = "Set XDG_RUNTIME_DIR to a short folder of your own with mode 700";
  const broken = (finding: string): Omit<Finding, "check"> => ({ status: "broken", finding, fix });
  if (longest > SOCKET_PATH_LIMIT) {
    return broken(`Sockets under ${folder} would have ${longest} bytes, at most 107 fit`);
  }
  if (facts === undefined) return { status: "ok", finding: `${folder} is made when the first VM starts` };
  if (facts.kind !== "folder") return broken(`${folder} is a ${facts.kind}, not a folder`);
  if (facts.owner !== null && us !== null && facts.owner !== us) {
    return broken(`${folder} belongs to user ${facts.owner}`);
  }
  if (facts.mode !== null && (facts.mode & 0o077) !== 0) {
    return {
      ...broken(`Other users may enter ${folder} (mode ${facts.mode.toString(8)})`),
      fix: `Run: chmod 700 "${folder}"`,
    };
  }
  return { status: "ok", finding: `${folder} is private to this user` };
}

async function checkDiskSpace(
  { host, state }: QemuContext,
  signal: AbortSignal,
): Promise<Omit<Finding, "check">> {
  if (host.os === "windows") return { status: "ok", finding: "Not looked at on Windows" };
  const folder = await nearestFolder(host.files, state.root);
  const finished = await host.processes.run("df", ["-Pk", "--", folder], { signal, env: { LC_ALL: "C" } });
  const free = parseFreeBytes(new TextDecoder().decode(finished.stdout));
  if (free === undefined) {
    return { status: "warning", finding: `The free space of ${folder} is not known: df gave no answer` };
  }
  const amount = free >= LOW_DISK_BYTES
    ? `${(free / 1024 ** 3).toFixed(1)} GiB`
    : `${(free / 1024 ** 2).toFixed(1)} MiB`;
  const finding = `${amount} are free for ${state.root}`;
  if (free >= LOW_DISK_BYTES) return { status: "ok", finding };
  return {
    status: free < FULL_DISK_BYTES ? "broken" : "warning",
    finding,
    fix:
      "Free some space (`hvlab vm orphans` shows leftovers), or name another state folder with HVLAB_STATE",
  };
}

/** The fourth column of the second line of `df -Pk`, in bytes. */
export function parseFreeBytes(text: string): number | undefined {
  const free = /^\S.*?\s+\d+\s+\d+\s+(\d+)\s+\d+%\s/m.exec(text.split("\n").slice(1).join("\n"))?.[1];
  return free === undefined ? undefined : Number(free) * 1024;
}

async function nearestFolder(files: QemuContext["host"]["files"], path: string): Promise<string> {
  let folder = path;
  while (await files.stat(folder, { follow: true }) === undefined && folder !== folderAbove(folder)) {
    folder = folderAbove(folder);
  }
  return folder;
}
