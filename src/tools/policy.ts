/** What the owner of this host allows. Checked before anything runs; no argument can relax it. */

import { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import type { Vm } from "../contract/vm.ts";
import type { Host } from "../host/host.ts";
import { folderOf, isWithin, nameOf } from "../base/paths.ts";
import type { DoorName, Tool } from "./tool.ts";

/** Refuses a tool or a class that the policy forbids. */
export function checkTool({ policy, file }: Config, tool: Tool, callClass: ToolClass = tool.class): void {
  const { classes, tools } = policy.deny;
  if (policy.mode === "read-only" && callClass !== "R") {
    throw denied(`"${tool.name}" changes something, and the policy mode is read-only`, file, {
      tool: tool.name,
    });
  }
  if (classes.includes(callClass) || tools.includes(tool.name) || tools.includes(`hv_${tool.name}`)) {
    throw denied(`The policy forbids "${tool.name}" (class ${callClass})`, file, { tool: tool.name });
  }
}

/** Refuses a VM that the policy does not name, when it names any. */
export function checkVm({ policy, file }: Config, vm: Vm): void {
  if (policy.vms === null || names(policy.vms, vm)) return;
  throw denied(`The policy does not allow the VM "${vm.name}"`, file, { vm: vm.id });
}

/**
 * Refuses to write outside the allowed folders. The folder is compared on its real path, so that neither `..` nor
 * a symbolic link leads out of them.
 */
export async function checkWrite(config: Config, host: Host, door: DoorName, path: string): Promise<void> {
  const folders = config.policy.folders ?? (door === "cli" ? undefined : []);
  if (folders === undefined) return;
  const real = await realFolder(host, folderOf(asWritten(host, path)));
  for (const folder of folders) {
    const allowed = await host.files.realPath(folder).catch(() => folder);
    if (isWithin(real, allowed)) return;
  }
  throw denied(`Files may not be written to "${path}"`, config.file, { path, allowed: [...folders] });
}

/** Refuses to download from outside the addresses that the policy names. A server that sends on elsewhere is asked again. */
export function checkDownload({ policy, file }: Config, door: DoorName, address: string): void {
  const allowed = policy.downloads ?? (door === "cli" ? undefined : []);
  if (allowed === undefined || allowed.some((place) => isBelow(address, place))) return;
  const { origin, pathname } = new URL(address);
  throw denied(`Nothing may be downloaded from "${origin}${pathname}"`, file, { allowed: [...allowed] });
}

/** Compared as a server reads them: with `..` taken out, by whole parts of the path. */
function isBelow(address: string, place: string): boolean {
  const [asked, allowed] = [new URL(address), new URL(place)];
  const folder = allowed.pathname.endsWith("/") ? allowed.pathname : `${allowed.pathname}/`;
  return asked.origin === allowed.origin && `${asked.pathname}/`.startsWith(folder);
}

/**
 * Refuses to give a name that the policy frees of plan tokens to what already has a life of its own: a call would
 * relax the policy for it. New VMs may have such a name, since nothing of anybody is in them.
 */
export function checkGivenName({ policy, file }: Config, door: DoorName, name: string): void {
  if (door === "cli" || !policy.exec_without_plan.includes(name)) return;
  throw denied(`The policy frees the name "${name}" of plan tokens, so it is not given to another VM`, file, {
    name,
  });
}

/** Whether class X on this VM is free of a plan token at this door. */
export function mayRunWithoutPlan({ policy }: Config, door: DoorName, vm: Vm | undefined): boolean {
  if (vm?.sandbox) return true;
  if (door === "cli") return !policy.plan_for_exec_on_command_line;
  return vm !== undefined && names(policy.exec_without_plan, vm);
}

/**
 * A path with the one separator that `folderOf` sees in every path: on Windows `..\x` and `/x/..\y` lead where they
 * seem to have no folder. A drive without a root means that drive's own working folder, which nobody here knows.
 */
function asWritten({ os }: Host, path: string): string {
  if (os !== "windows") return path;
  if (/^[A-Za-z]:(?![\\/])/.test(path)) {
    throw denied(`The path has a drive and no root: "${path}"`, null, { path });
  }
  return path.replaceAll("\\", "/");
}

async function realFolder(host: Host, folder: string): Promise<string> {
  const present = await host.files.stat(folder, { follow: true });
  if (present !== undefined) return await host.files.realPath(folder);
  if (nameOf(folder) === "..") {
    throw denied(`The path goes up through a missing folder: "${folder}"`, null, { path: folder });
  }
  const parent = folderOf(folder);
  return parent === folder ? folder : await realFolder(host, parent);
}

function names(list: readonly string[], vm: Vm): boolean {
  return list.includes(vm.name) || list.includes(vm.id);
}

function denied(message: string, file: string | null, context: JsonObject): HvError {
  return new HvError("hv.policy_denied", message, {
    hint: file === null
      ? "Allow it in hvlab.yaml, or make the call from the command line"
      : `Ask the owner of this host, who decides in "${file}"`,
    context,
  });
}
