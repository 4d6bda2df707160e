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
export function checkVm({ policy, file }: Config, vm: Pick<Vm, "id" | "name">): void {
  if (policy.vms === null || names(policy.vms, vm)) return;
  throw denied(`The policy does not allow the VM "${vm.name}"`, file, { vm: vm.id });
}

/**
 * Refuses to write outside the allowed folders. Folders are compared on their real paths, so that neither `..` nor
 * a symbolic link leads out of them. Throws `hv.usage` for a Windows path with a drive and no root.
 */
export async function checkWrite(config: Config, host: Host, door: DoorName, path: string): Promise<void> {
  const folders = config.policy.folders ?? (door === "cli" ? undefined : []);
  if (folders === undefined) return;
  const allowed = await Promise.all(folders.map((folder) => host.files.realPath(folder).catch(() => folder)));
  for (const place of await placesOf(host, path)) {
    const real = place === undefined ? undefined : await realFolder(host, place);
    if (real !== undefined && allowed.some((folder) => isWithin(real, folder))) continue;
    throw denied(`Files may not be written to "${path}"`, config.file, { path, allowed: [...folders] });
  }
}

/** Whether class X on this VM is free of a plan token at this door. */
export function mayRunWithoutPlan({ policy }: Config, door: DoorName, vm: Vm | undefined): boolean {
  if (vm?.sandbox) return true;
  if (door === "cli") return !policy.plan_for_exec_on_command_line;
  return vm !== undefined && names(policy.exec_without_plan, vm);
}

/**
 * The folders that a path is written into: its own, and that of what a link leads to, since some write beside the path
 * and some through it. A path that ends in a separator, `.` or `..` is a folder itself. `undefined` stands for where a
 * link leads that leads nowhere.
 */
async function placesOf({ os, files }: Host, path: string): Promise<(string | undefined)[]> {
  // On Windows `..\x` and `/x/..\y` lead where `folderOf` sees no folder.
  const full = os === "windows" ? resolveWindowsPath(await files.realPath("."), path) : path;
  const isFolder = os === "windows" ? /(?:^|[\\/])\.{0,2}$/ : /(?:^|\/)\.{0,2}$/;
  if (isFolder.test(path)) return [full];
  if ((await files.stat(full))?.kind !== "link") return [folderOf(full)];
  const isThere = await files.stat(full, { follow: true }) !== undefined;
  return [folderOf(full), isThere ? folderOf(await files.realPath(full)) : undefined];
}

/** The real path of a folder, or of what there is of the way to it; `undefined` where that way goes up again. */
async function realFolder(host: Host, folder: string): Promise<string | undefined> {
  const present = await host.files.stat(folder, { follow: true });
  if (present !== undefined) return await host.files.realPath(folder);
  if (nameOf(folder) === "..") return undefined;
  const parent = folderOf(folder);
  return parent === folder ? folder : await realFolder(host, parent);
}

function names(list: readonly string[], vm: Pick<Vm, "id" | "name">): boolean {
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
