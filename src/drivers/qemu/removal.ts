/** Removing a VM with everything that belongs to it, and nothing else. */

import { HvError, toHvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Loss } from "../../contract/plan.ts";
import type { Removed } from "../../contract/vm.ts";
import { forgetCredential } from "../../guest/credentials.ts";
import type { CallScope } from "../call_scope.ts";
import { readBook } from "./checkpoints/records.ts";
import type { QemuContext } from "./context.ts";
import { ProcessView } from "./identity.ts";
import { endProcess } from "./power/power_off.ts";
import { MAKING_PREFIX, REMOVING_PREFIX, type VmRecord, type VmRecords } from "./records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "./runtime_folder.ts";
import { openGuestFolder } from "./ssh.ts";
import { makerLockPath, type VmLock, waitForVmLock } from "./vm_lock.ts";

/** A store that is locked may ask a person, who is not there. */
const FORGET_LIMIT_MS = 10_000;

/** A file with the space that it takes. */
export interface SizedFile {
  path: string;
  size_bytes: number;
}

/** Powers a VM off and removes it. Works on a full disk: it writes nothing. */
export async function removeVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  scope: CallScope,
): Promise<Removed> {
  await using lock = await waitForVmLock(context, id, "removing", scope.signal);
  const record = await findOrEnd(records, id, lock);
  if (record.adopted !== undefined) return await removeAdopted(context, lock, record);
  return await removeUnderLock(context, lock, record, record.name, scope);
}

/** Of a VM that somebody else made only what hvlab knows of it goes. */
async function removeAdopted(context: QemuContext, lock: VmLock, record: VmRecord): Promise<Removed> {
  const { warnings = [], ...removed } = await removeFiles(context, lock, record);
  const stays = `"${record.name}" was adopted: only hvlab's record of it is gone, its process and disks stay`;
  return { ...removed, warnings: [...warnings, stays] };
}

/** A lock that was waited for can be that of a VM which is gone meanwhile. */
async function findOrEnd(records: VmRecords, id: string, lock: VmLock): Promise<VmRecord> {
  const record = await records.find(id);
  if (record === undefined) lock.endWithVm();
  return record ?? await records.get(id);
}

/** Removes what belongs to an id, readable record or not. The caller holds the VM's lock. */
export async function removeUnderLock(
  context: QemuContext,
  lock: VmLock,
  vm: Pick<VmRecord, "id" | "runtime">,
  name: string | undefined,
  { signal, progress }: CallScope,
): Promise<Removed> {
  progress({ message: "Powering off" });
  await endProcess(context, vm, signal);
  progress({ message: "Removing files" });
  return await removeFiles(context, lock, { ...vm, ...(name === undefined ? {} : { name }) });
}

/** Removes the folders of a VM, whose process is over or none of ours. The caller holds the VM's lock. */
export async function removeFiles(
  context: QemuContext,
  lock: VmLock,
  vm: Pick<VmRecord, "id" | "runtime"> & { name?: string },
): Promise<Removed> {
  const { host, state } = context;
  const { name } = vm;
  const runtime = new RuntimeFolder(vm.runtime);
  const home = state.vm(vm.id);
  const files = (await filesUnder(context, home)).map(({ path }) => path);
  await refuseUsedFolder(context, home);
  if (await removeRuntimeFolder(host, runtime)) files.push(runtime.path);
  const forgotten = await forgetLogins(context, vm.id);
  const left = await removeFolder(context, vm.id);
  const warnings = [...forgotten, ...left];
  await host.files.remove(makerLockPath(context, vm.id));
  lock.endWithVm();
  return {
    id: vm.id,
    ...(name === undefined ? {} : { name }),
    removed: left.length === 0,
    files,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Logins of its guest that the desktop's store keeps go too. A store that does not answer keeps no VM from going. */
async function forgetLogins(context: QemuContext, id: string): Promise<string[]> {
  const place = { host: context.host, folder: openGuestFolder(context, id), key: id };
  try {
    await forgetCredential(place, undefined, AbortSignal.timeout(FORGET_LIMIT_MS));
    return [];
  } catch (error) {
    return [`A login of its guest may still be in the password store: ${toHvError(error).message}`];
  }
}

/**
 * Takes a VM's folder away. It is renamed first, so that a call that is killed half-way leaves no VM without its
 * disk, only a folder that the next change sweeps away.
 */
async function removeFolder({ host, state }: QemuContext, id: string): Promise<string[]> {
  const home = state.vm(id);
  if (await host.files.stat(home) === undefined) return [];
  await refuseOutside({ host, state }, home);
  const doomed = joinPath(state.vms, `${REMOVING_PREFIX}${id}`);
  // An older leftover of the same name would refuse the rename.
  await host.files.remove(doomed);
  await host.files.rename(home, doomed);
  try {
    await host.files.remove(doomed);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Removes something under `vms/` that is no VM's folder. The caller has made sure that nobody is at work in it. */
export async function removeUnfinished(context: QemuContext, path: string): Promise<void> {
  await refuseOutside(context, path);
  await context.host.files.remove(path);
}

/** Checked on the resolved path right before removal: a link would lead the removal out of the state folder. */
async function refuseOutside(
  { host, state }: Pick<QemuContext, "host" | "state">,
  path: string,
): Promise<void> {
  const facts = await host.files.stat(path);
  const root = await host.files.realPath(state.vms);
  const resolved = await host.files.realPath(path);
  const inside = (facts?.kind === "folder" || facts?.kind === "file") && resolved.startsWith(root) &&
    /^[\\/][^\\/]+$/.test(resolved.slice(root.length));
  if (inside) return;
  throw new HvError("hv.policy_denied", `Refused to remove "${path}": it leads out of the state folder`, {
    hint: "Look where the path leads, and remove it by hand",
    context: { path, resolved, wanted: root },
  });
}

/** A QEMU of another VM, or of a person, may have opened a disk of this one. */
async function refuseUsedFolder(context: QemuContext, home: string): Promise<void> {
  const marks = [`${home}/`, `${home.replaceAll(",", ",,")}/`];
  const users = (await new ProcessView(context).all()).filter(({ args }) =>
    marks.some((mark) => args.includes(mark))
  );
  const [user] = users;
  if (user === undefined) return;
  throw new HvError("hv.conflict", `Cannot remove "${home}": process ${user.pid} uses files in it`, {
    hint: "End that process first",
    context: { path: home, pid: user.pid, wanted: "unused", found: "in use" },
  });
}

/** Every file under a folder with its size on disk. What is no folder is the one file; an absent folder holds none. */
export async function filesUnder(context: QemuContext, path: string): Promise<SizedFile[]> {
  const { files } = context.host;
  const facts = await files.stat(path);
  if (facts === undefined) return [];
  if (facts.kind !== "folder") return [{ path, size_bytes: facts.allocated_bytes ?? facts.size_bytes }];
  const found: SizedFile[] = [];
  for (const { name } of await files.list(path)) {
    found.push(...await filesUnder(context, joinPath(path, name)));
  }
  return found;
}

/** What removing a VM takes away: its checkpoints by name, and every file. */
export async function lossesOf(context: QemuContext, id: string): Promise<Loss[]> {
  const files = await filesUnder(context, context.state.vm(id));
  return [
    ...await checkpointNames(context, id),
    ...files.map(({ path, size_bytes }) => ({ what: "file", path, size_bytes })),
  ];
}

/** A damaged record of checkpoints hides their names, not their files, and must not keep a VM from being removed. */
async function checkpointNames(context: QemuContext, id: string): Promise<Loss[]> {
  try {
    const { checkpoints } = await readBook(context, id);
    return checkpoints.map(({ name }) => ({ what: `the checkpoint "${name}"` }));
  } catch (error) {
    return [{ what: error instanceof Error ? error.message : String(error) }];
  }
}

/** Whether a folder's name says that a call is, or was, making or removing a VM; answers the VM's id. */
export function unfinishedId(name: string): string | undefined {
  for (const prefix of [MAKING_PREFIX, REMOVING_PREFIX]) {
    if (name.startsWith(prefix)) return name.slice(prefix.length);
  }
  return undefined;
}
