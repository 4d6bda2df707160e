/** Processes and runtime folders of VMs that have no record. */

import { joinPath } from "../../../base/paths.ts";
import type { Orphan } from "../../../contract/vm.ts";
import type { QemuContext } from "../context.ts";
import { ProcessView, type QemuProcess } from "../identity.ts";
import { readRuntimeOwner, RuntimeFolder } from "../runtime_folder.ts";
import { belongings, isLocked } from "./belongings.ts";

/** A QEMU that no record names. */
export async function strayProcess(context: QemuContext, process: QemuProcess): Promise<Orphan> {
  const runtime = RuntimeFolder.of(context.host, process.id);
  return {
    kind: "process",
    id: process.id,
    ...await belongings(context, [runtime.path]),
    pid: process.pid,
    reason: "A QEMU of this state folder runs without a VM's record",
  };
}

/** Runtime folders that name this state folder and a VM that it does not have. Others are other people's. */
export async function strayRuntimeFolders(
  context: QemuContext,
  known: ReadonlySet<string>,
): Promise<Orphan[]> {
  const { host, state } = context;
  const root = host.environment.runtimeFolder();
  if ((await host.files.stat(root))?.kind !== "folder") return [];
  const found: Orphan[] = [];
  for (const { name, kind } of await host.files.list(root)) {
    if (kind !== "folder") continue;
    const folder = new RuntimeFolder(joinPath(root, name));
    const owner = await readRuntimeOwner(host, folder);
    if (owner === undefined || owner.state !== state.root || known.has(owner.vm)) continue;
    const isBeingMade = await isLocked(context, owner.vm);
    if (isBeingMade) continue;
    found.push({
      kind: "runtime_folder",
      id: owner.vm,
      ...await belongings(context, [folder.path]),
      reason: "Its VM has no record any more",
    });
  }
  return found;
}

/** Whether a VM still has a process or a runtime folder. */
export async function hasRemains(context: QemuContext, id: string): Promise<boolean> {
  return await context.host.files.stat(RuntimeFolder.of(context.host, id).path) !== undefined ||
    await new ProcessView(context).find(id) !== undefined;
}
