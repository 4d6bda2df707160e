/** What the owner of this host allows. Checked before anything runs; no argument can relax it. */

import { HvError } from "../base/errors.ts";
import { parseVmId } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import type { Vm } from "../contract/vm.ts";
import type { Host } from "../host/host.ts";
import { folderOf, isWithin, nameOf, resolveWindowsPath } from "../base/paths.ts";
import type { DoorName, Tool } from "./tool.ts";

/** Refuses a tool or a class that the policy forbids. */
export function checkTool({ policy, file }: Config, tool: Tool, callClass: ToolClass = tool.class): void {
  const { classes, tools } = policy.deny;
  // Of a call that is handed on the other tool's class counts, which is asked about in its turn.
  const counts = !tool.delegates;
  if (counts && policy.mode === "read-only" && callClass !== "R") {
    throw denied(`"${tool.name}" changes something, and the policy mode is read-only`, file, {
      tool: tool.name,
    });
  }
  const isDenied = tools.includes(tool.name) || tools.includes(`hv_${tool.name}`);
  if (isDenied || (counts && classes.includes(callClass))) {
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
  const real = await realFolder(host, await placeOf(host, await asWritten(host, path)));
  for (const folder of folders) {
    const allowed = await host.files.realPath(folder).catch(() => folder);
    if (isWithin(real, allowed)) return;
  }
  throw denied(`Files may not be written to "${path}"`, config.file, { path, allowed: [...folders] });
}

/** Whether class X on this VM is free of a plan token at this door. */
export function mayRunWithoutPlan({ policy }: Config, door: DoorName, vm: Vm | undefined): boolean {
  if (vm?.sandbox) return true;
  if (door === "cli") return !policy.plan_for_exec_on_command_line;
  return vm !== undefined && names(policy.exec_without_plan, vm);
}

/**
 * What a path is written into: its folder, but the path itself where it ends in `.` or `..` and names a folder, and
 * where a link leads to, since what is written may go through it.
 */
async function placeOf({ files }: Host, path: string): Promise<string> {
  if (/^\.{1,2}$/.test(nameOf(path))) return path;
  const isLink = (await files.stat(path))?.kind === "link";
  return folderOf(isLink ? await files.realPath(path) : path);
}

/** A path as the system reads it: on Windows `..\x` and `/x/..\y` lead where `folderOf` sees no folder. */
async function asWritten({ os, files }: Host, path: string): Promise<string> {
  if (os !== "windows") return path;
  const full = resolveWindowsPath(await files.realPath("."), path);
  if (full !== undefined) return full;
  throw denied(`The path has a drive and no root: "${path}"`, null, { path });
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
  return list.some((one) => one === vm.name || one === vm.id || parseVmId(one) === vm.id);
}

/** The failure of a call that the policy does not allow, and whom to ask. */
export function denied(message: string, file: string | null, context: JsonObject): HvError {
  return new HvError("hv.policy_denied", message, {
    hint: file === null
      ? "Allow it in hvlab.yaml, or make the call from the command line"
      : `Ask the owner of this host, who decides in "${file}"`,
    context,
  });
}
