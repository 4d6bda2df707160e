/** Making a VM: its files under a passing name first, so that whatever has a VM's name has a record too. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { UndoList } from "../../base/undo.ts";
import { waitForAll } from "../../base/wait_for_all.ts";
import type { Image } from "../../contract/image.ts";
import type { CallScope } from "../call_scope.ts";
import type { VmSpec } from "../driver.ts";
import { runQemuImg } from "./checkpoints/files.ts";
import { writeSeed } from "./cloud_init/seed.ts";
import type { QemuContext } from "./context.ts";
import { recordedCrashes } from "./crashes/abilities.ts";
import { damagedVms } from "./damaged_vms.ts";
import { baseOf } from "./disks/at_start.ts";
import { makeVariables } from "./launch/firmware.ts";
import { getImage } from "./images/images.ts";
import { firstNic } from "./network/first_nic.ts";
import { makeKernelFiles } from "./launch/kernel_files.ts";
import { type BaseDisk, diskOf, makeOverlay, OVERLAY_FILE, VARIABLES_FILE } from "./overlay.ts";
import { readQemuProgram } from "./launch/program.ts";
import { endProcess } from "./power/power_off.ts";
import {
  MAKING_PREFIX,
  RECORD_FILE,
  SCHEMA_VERSION,
  type VmRecord,
  type VmRecords,
  writeRecord,
} from "./records.ts";
import { removeRuntimeFolder, RuntimeFolder } from "./runtime_folder.ts";
import { needShareWays } from "./shares.ts";
import { findTpmProgram, TPM_FOLDER } from "./launch/tpm.ts";
import { makerLockPath, takeVmLock } from "./vm_lock.ts";

const CLEANUP_LIMIT_MS = 30_000;

/** What a VM is made of beside its specification. */
export interface Making {
  sandbox?: NonNullable<VmRecord["sandbox"]>;
  /** The warm template that it starts from; a disk of it takes the place of the image's. */
  template?: { fingerprint: string; pooled?: boolean; disk?: BaseDisk };
}

/**
 * Makes a VM that is off, then does `next` with it, all under its lock. When anything fails nothing is left behind.
 * Throws `hv.conflict` when the name is taken, `hv.usage` for parts that do not go together.
 */
export async function makeVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  spec: VmSpec,
  { sandbox, template }: Making,
  scope: CallScope,
  next?: (record: VmRecord) => Promise<void>,
): Promise<void> {
  const { host, version } = context;
  const fill = async (folder: string): Promise<VmRecord> => {
    const [image, qemu] = await waitForAll([
      spec.image === undefined ? undefined : getImage(context, spec.image),
      readQemuProgram(context, { remember: true, signal: scope.signal }),
    ]);
    refuseUnfit(spec, image);
    const nics = await firstNic(context, records, spec);
    const iso = spec.iso === undefined ? undefined : await findIso(context, spec.iso);
    await makeDisk(context, spec, image, template?.disk, joinPath(folder, OVERLAY_FILE), scope.signal);
    const base = await baseOf(context, spec, image, template?.disk);
    const { firmware } = spec;
    if (firmware !== undefined && firmware !== "bios") {
      await makeVariables(context, firmware, joinPath(folder, VARIABLES_FILE), scope.signal);
    }
    if (spec.shares !== undefined) await needShareWays(context, scope.signal);
    if (spec.tpm) {
      await findTpmProgram(context);
      await host.files.makeFolder(joinPath(folder, TPM_FOLDER));
    }
    if (spec.cloud_init !== undefined) {
      const facts = { id, name: spec.name, network: spec.network ?? true };
      await writeSeed(host.files, folder, spec.cloud_init, facts);
    }
    const ownFiles = spec.kernel !== undefined || (spec.full_copy && image?.kind === "kernel");
    const boot = ownFiles
      ? await makeKernelFiles(context, spec.kernel ?? {}, image, folder, scope.signal)
      : undefined;
    return {
      ...newRecord(context, id, spec.name),
      ...(spec.image === undefined ? {} : { image: spec.image }),
      memory_mb: spec.memory_mb,
      cpus: spec.cpus,
      machine: qemu.machine,
      ...(version === undefined ? {} : { made_by: version }),
      ...(boot === undefined ? {} : { boot }),
      ...(image?.kind === "kernel" && spec.disk_size_mb !== undefined ? { data_disk: true } : {}),
      ...(spec.firmware === undefined ? {} : { firmware: spec.firmware }),
      ...(iso === undefined ? {} : { iso }),
      ...(base === undefined ? {} : { base }),
      ...(spec.network === undefined ? {} : { network: spec.network }),
      ...(nics === undefined ? {} : { nics }),
      ...(spec.shares === undefined ? {} : { shares: spec.shares }),
      ...(spec.tpm ? { tpm: true } : {}),
      ...(spec.cloud_init === undefined ? {} : { cloud_init: true }),
      ...(spec.watchdog === undefined ? {} : { watchdog: spec.watchdog }),
      ...recordedCrashes(spec.crashes ?? {}),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(template === undefined ? {} : { template: templateOf(template) }),
    };
  };
  await using undo = new UndoList();
  undo.add("maker's lock file", () => host.files.remove(makerLockPath(context, id)));
  await bringIntoBeing(context, records, id, fill, scope, next);
  undo.keep();
}

/** The part of a record that every new VM has. */
export function newRecord(
  { host }: QemuContext,
  id: string,
  name: string,
): Pick<VmRecord, "schema" | "id" | "name" | "created_at" | "runtime"> {
  return {
    schema: SCHEMA_VERSION,
    id,
    name,
    created_at: new Date(host.clock.now()).toISOString(),
    runtime: RuntimeFolder.of(host, id).path,
  };
}

/**
 * Lets a VM come into being whole or not at all: `fill` puts its files into a passing folder and answers its record,
 * `next` goes on with it and may start its machine, which ends when it fails. All of it, and what takes it back,
 * happens under the VM's lock. A call that is killed on the way leaves a folder that the next change sweeps away.
 */
export async function bringIntoBeing(
  context: QemuContext,
  records: VmRecords,
  id: string,
  fill: (folder: string) => Promise<VmRecord>,
  scope: CallScope,
  next: (record: VmRecord) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { host, state } = context;
  await using lock = await takeVmLock(context, id, "making", "absent");
  await using undo = new UndoList();
  undo.add("lock file", () => Promise.resolve(lock.endWithVm()));
  const passing = joinPath(state.vms, `${MAKING_PREFIX}${id}`);
  undo.add("folder", () => host.files.remove(passing));
  await host.files.makeFolder(passing);
  const record = await fill(passing);
  await host.files.writeAtomically(joinPath(passing, RECORD_FILE), writeRecord(record));
  {
    using _names = await takeNames(context, scope.signal);
    // The name of a sandbox is most often one that hvlab made up, which no other VM has.
    const warn = record.sandbox === undefined ? scope.warn : undefined;
    await refuseTakenName(records, record.name, { warn });
    await host.files.rename(passing, state.vm(id));
    // Its name goes before its files do: what still writes into it by name finds no folder.
    undo.add("name", () => host.files.rename(state.vm(id), passing));
  }
  // The machine of an adopted VM is somebody else's.
  if (record.adopted === undefined) undo.add("machine", () => takeMachineAway(context, record));
  await next(record);
  undo.keep();
}

/** Ends what `next` may have started before it failed. */
async function takeMachineAway(context: QemuContext, record: VmRecord): Promise<void> {
  await endProcess(context, record, AbortSignal.timeout(CLEANUP_LIMIT_MS));
  await removeRuntimeFolder(context.host, new RuntimeFolder(record.runtime));
}

/** Whoever gives a VM a name holds this, so that no two calls give the same one. */
export function takeNames({ host, state }: QemuContext, signal: AbortSignal): Promise<Disposable> {
  return host.locks.take(joinPath(state.locks, "names.lock"), signal);
}

/**
 * Throws `hv.conflict` when a VM other than `except` has the name. `warn` is told of VMs that may have it too, because
 * their records cannot be read.
 */
export async function refuseTakenName(
  records: VmRecords,
  name: string,
  { except, warn }: { except?: string; warn?: CallScope["warn"] } = {},
): Promise<void> {
  const listing = await records.list();
  const other = listing.records.find((record) => record.name === name && record.id !== except);
  if (other === undefined) {
    for (const { record } of damagedVms(listing)) {
      warn?.(`The record "${record}" of a VM is damaged: that VM may have the name "${name}" too`);
    }
    return;
  }
  throw new HvError("hv.conflict", `The VM name "${name}" is taken by ${other.id}`, {
    hint: "Choose another name, or remove that VM first",
    context: { name, vm: other.id, wanted: "free", found: "taken" },
  });
}

function refuseUnfit(spec: VmSpec, image: Image | undefined): void {
  const refuse = (message: string, hint: string): never => {
    throw new HvError("hv.usage", message, { hint, context: { name: spec.name } });
  };
  if (image?.kind === "disk" && spec.disk_size_mb !== undefined) {
    refuse(
      `The image "${image.name}" is a disk, so there is no blank one to give a size`,
      "Leave one of them out",
    );
  }
  if (spec.full_copy && image === undefined) {
    refuse("A full copy needs an image to copy", "Name one with --image");
  }
  const hasAny = [image, spec.disk_size_mb, spec.iso, spec.kernel?.kernel].some((part) => part !== undefined);
  if (!hasAny) {
    refuse("A VM needs something to start from", "Give --image, --kernel, or --disk-size with --iso");
  }
}

/** The disc's own file. Throws `hv.bad_image` for what is no plain file. */
export async function findIso({ host }: QemuContext, path: string): Promise<string> {
  const real = await host.files.realPath(path);
  const facts = await host.files.stat(real);
  if (facts?.kind === "file") return real;
  throw new HvError("hv.bad_image", `Cannot use "${path}" as a disc: it is not a plain file`, {
    hint: "Name an ISO file",
    context: { path, reason: "not_a_file", found: facts?.kind ?? "nothing" },
  });
}

async function makeDisk(
  context: QemuContext,
  { full_copy: isFullCopy, disk_size_mb: size }: VmSpec,
  image: Image | undefined,
  base: BaseDisk | undefined,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  if (image?.kind === "disk") {
    const source = base ?? diskOf(image);
    if (!isFullCopy) return await makeOverlay(context, source, path, signal);
    const words = ["convert", "-f", source.format, "-O", "qcow2", source.path, path];
    return await runQemuImg(context, words, path, signal);
  }
  if (size === undefined) return;
  await runQemuImg(context, ["create", "-q", "-f", "qcow2", path, `${size}M`], path, signal);
}

function templateOf(
  { fingerprint, pooled }: NonNullable<Making["template"]>,
): NonNullable<VmRecord["template"]> {
  return { fingerprint, ...(pooled === undefined ? {} : { pooled }) };
}
