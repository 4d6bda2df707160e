/** Who uses a disk: VMs by their records, other disks by their bonds, and processes by their command lines. */

import { HvError } from "../../../base/errors.ts";
import { parseVmId } from "../../../base/ids.ts";
import { quoteWord } from "../../../host/quote_word.ts";
import { QEMU, QEMU_IMG, type QemuContext } from "../context.ts";
import { readIdentity } from "../identity.ts";
import { imageFolders } from "../images/images.ts";
import { observe } from "../observe.ts";
import { type VmRecord, VmRecords } from "../records.ts";
import { listBonds } from "./bonds.ts";
import { isInside } from "./places.ts";
import { refuseUnknownUsers } from "./unknown_users.ts";

/** Programs that open disks. */
const OPENERS = [QEMU, "qemu-nbd", QEMU_IMG, "qemu-storage-daemon", "qemu-io", "kvm"] as const;

/** A process that has a file open, as far as its command line tells. */
export interface Holder {
  program: string;
  pid: number;
  /** The VM that it runs. */
  vm?: string;
  name?: string;
}

/** A VM that has a disk, itself or below one that it has. */
export interface DiskVm {
  record: VmRecord;
  /** Whether a process of it may be alive. */
  alive: boolean;
  /** Whether the disk is the one that the record names, and not one below it. */
  direct: boolean;
}

/** The processes that name a file, or whose VM has it attached. */
export async function findHolders(context: QemuContext, path: string): Promise<Holder[]> {
  const { processes } = context.host;
  const written = [path, path.replaceAll(",", ",,"), JSON.stringify(path).slice(1, -1)];
  const vms = await findVms(context, path, AbortSignal.timeout(LOOK_LIMIT_MS));
  const holders: Holder[] = [];
  for (const program of OPENERS) {
    const installed = await processes.find(program);
    if (installed === undefined) continue;
    for (const { pid, args } of await processes.list(program)) {
      const vm = readIdentity(args);
      const found = vms.find(({ record }) => record.id === vm);
      if (found === undefined && !written.some((text) => args.includes(text))) continue;
      const record = found?.record;
      holders.push({
        program,
        pid,
        ...(vm === undefined ? {} : { vm }),
        ...(record === undefined ? {} : { name: record.name }),
      });
    }
  }
  return holders;
}

const LOOK_LIMIT_MS = 10_000;

/** Holders in words, for a sentence. */
export function describeUsers(holders: readonly Holder[]): string {
  if (holders.length === 0) return "another program, which could not be found,";
  return holders.map(({ program, pid, vm, name }) =>
    vm === undefined ? `${program} (process ${pid})` : `the VM "${name ?? vm}" (process ${pid})`
  ).join(" and ");
}

/** VMs of this state folder that have the disk, directly or below one of theirs as far as bonds tell. */
export async function findVms(context: QemuContext, path: string, signal: AbortSignal): Promise<DiskVm[]> {
  const family = await familyOf(context, path);
  const { records } = await new VmRecords(context).list();
  const found: DiskVm[] = [];
  for (const record of records) {
    const own = context.state.vm(record.id);
    const isDirect = record.disks?.some((disk) => disk.path === path) === true || isInside(own, path);
    const isBelow = record.disks?.some((disk) => family.has(disk.path)) === true ||
      record.base?.path === path;
    if (!isDirect && !isBelow) continue;
    found.push({ record, alive: (await observe(context, record, signal)).alive, direct: isDirect });
  }
  return found;
}

/** Disks that lean on a disk directly, as far as hvlab has made them. */
export async function findChildren(context: QemuContext, path: string): Promise<string[]> {
  return (await listBonds(context)).filter(({ parent }) => parent.path === path).map((bond) => bond.path);
}

/**
 * Throws `hv.conflict` when another disk, or a VM's own disk, leans on this one: it would be nonsense afterwards. Throws
 * `hv.io` when that cannot be told.
 */
export async function refuseParent(
  context: QemuContext,
  path: string,
  action: string,
  signal: AbortSignal,
): Promise<void> {
  const children = await findChildren(context, path);
  const vms = (await findVms(context, path, signal)).filter(({ direct, record }) =>
    !direct && record.base?.path === path
  ).map(({ record }) => record.name);
  const leaning = [...children, ...vms.map((name) => `the VM ${name}`)];
  if (leaning.length === 0) return await refuseUnknownUsers(context, path, action);
  throw new HvError("hv.conflict", `Cannot ${action} "${path}": "${leaning.join('", "')}" leans on it`, {
    hint: "Merge or remove what leans on it first",
    context: { path, children: leaning, wanted: "no children", found: "in use" },
  });
}

/** Throws `hv.conflict` for a file of an image or a template: hvlab never writes to those. */
export function refuseStored(context: QemuContext, path: string, action: string): void {
  const isTemplate = isInside(context.state.templates, path);
  if (!isTemplate && !imageFolders(context).some((folder) => isInside(folder, path))) return;
  throw new HvError(
    "hv.conflict",
    `Cannot ${action} "${path}": it belongs to ${isTemplate ? "a template" : "an image"}`,
    {
      hint: isTemplate
        ? "Templates go with: hvlab image drop NAME"
        : "Make a disk over it: hvlab disk create NEW.qcow2 --parent PATH",
      context: { path, wanted: "a disk of its own", found: isTemplate ? "template" : "image" },
    },
  );
}

/**
 * Throws `hv.conflict` when a file may not be replaced: it belongs to something, or somebody needs it. Throws `hv.io`
 * when that cannot be told.
 */
export async function refuseReplacing(
  context: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  refuseStored(context, path, "replace");
  const [user] = await findVms(context, path, signal);
  if (user !== undefined) {
    throw new HvError("hv.conflict", `Cannot replace "${path}": the VM "${user.record.name}" has it`, {
      hint: "Name another file",
      context: { path, vm: user.record.id, name: user.record.name, wanted: "not in use", found: "in use" },
    });
  }
  await refuseParent(context, path, "replace", signal);
}

/** Throws `hv.conflict` while a VM that may be alive has the disk. */
export async function refuseRunning(
  context: QemuContext,
  path: string,
  action: string,
  signal: AbortSignal,
): Promise<void> {
  const user = (await findVms(context, path, signal)).find(({ alive }) => alive);
  if (user === undefined) return;
  const { id, name } = user.record;
  throw new HvError("hv.conflict", `Cannot ${action} "${path}": the VM "${name}" runs with it`, {
    hint: `Detach it, or stop the VM: hvlab vm stop ${id}`,
    context: { path, vm: id, name, wanted: "not in use", found: "in use" },
  });
}

/** Throws `hv.conflict` when a VM, running or off, may write to one of the disks that something is to lean on. */
export async function refuseWriters(
  context: QemuContext,
  paths: readonly string[],
  action: string,
): Promise<void> {
  const { records } = await new VmRecords(context).list();
  for (const { id, name, disks = [] } of records) {
    const written = disks.find((disk) => paths.includes(disk.path) && disk.read_only !== true);
    if (written === undefined) continue;
    const { path } = written;
    throw new HvError("hv.conflict", `Cannot ${action} "${path}": the VM "${name}" may write to it`, {
      hint: `Detach it first: hvlab disk detach ${id} ${quoteWord(path)}`,
      context: { path, vm: id, name, wanted: "not written", found: "attached" },
    });
  }
}

/** The id of the VM in whose folder a file lies. */
export function ownerOf({ state }: QemuContext, path: string): string | undefined {
  const name = isInside(state.vms, path) ? path.slice(state.vms.length + 1).split(/[\\/]/, 1)[0] : undefined;
  return name === undefined ? undefined : parseVmId(name);
}

/** A disk's children and theirs, as far as bonds tell. */
async function familyOf(context: QemuContext, path: string): Promise<Set<string>> {
  const bonds = await listBonds(context);
  const family = new Set<string>();
  const add = (parent: string): void => {
    for (const bond of bonds) {
      if (bond.parent.path !== parent || family.has(bond.path)) continue;
      family.add(bond.path);
      add(bond.path);
    }
  };
  add(path);
  return family;
}
