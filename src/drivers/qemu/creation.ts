/** Making a VM: its files under a passing name first, so that whatever has a VM's name has a record too. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { UndoList } from "../../base/undo.ts";
import type { CallScope, VmSpec } from "../driver.ts";
import type { QemuContext } from "./context.ts";
import { getImage } from "./images.ts";
import { type BaseDisk, diskOf, makeOverlay, OVERLAY_FILE } from "./overlay.ts";
import { readQemuProgram } from "./program.ts";
import {
  MAKING_PREFIX,
  RECORD_FILE,
  SCHEMA_VERSION,
  type VmRecord,
  type VmRecords,
  writeRecord,
} from "./records.ts";
import { RuntimeFolder } from "./runtime_folder.ts";
import { lockPath, makerLockPath, takeVmLock } from "./vm_lock.ts";

/** What a VM is made of beside its specification. */
export interface Making {
  sandbox?: NonNullable<VmRecord["sandbox"]>;
  /** The warm template that it starts from; a disk of it takes the place of the image's. */
  template?: { fingerprint: string; disk?: BaseDisk };
}

/**
 * Makes a VM that is off, then does `next` with it, all under its lock. When anything fails nothing is left behind.
 * Throws `hv.conflict` when the name is taken.
 */
export async function makeVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  spec: VmSpec,
  { sandbox, template }: Making,
  scope: CallScope,
  next: (record: VmRecord) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { host, state, version } = context;
  await using undo = new UndoList();
  for (const path of [lockPath(context, id), makerLockPath(context, id)]) {
    undo.add("lock file", () => host.files.remove(path));
  }
  await using _lock = await takeVmLock(context, id, "making", "absent");
  const [image, qemu] = await Promise.all([
    getImage(context, spec.image),
    readQemuProgram(context, { remember: true, signal: scope.signal }),
  ]);
  const record: VmRecord = {
    schema: SCHEMA_VERSION,
    id,
    name: spec.name,
    image: spec.image,
    memory_mb: spec.memory_mb,
    cpus: spec.cpus,
    created_at: new Date(host.clock.now()).toISOString(),
    machine: qemu.machine,
    runtime: RuntimeFolder.of(host, id).path,
    ...(version === undefined ? {} : { made_by: version }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(template === undefined ? {} : { template: { fingerprint: template.fingerprint } }),
  };
  const passing = joinPath(state.vms, `${MAKING_PREFIX}${id}`);
  undo.add("folder", () => host.files.remove(passing));
  await host.files.makeFolder(passing);
  if (image.kind === "disk") {
    const base = template?.disk ?? diskOf(image);
    await makeOverlay(context, base, joinPath(passing, OVERLAY_FILE), scope.signal);
  }
  await host.files.writeAtomically(joinPath(passing, RECORD_FILE), writeRecord(record));
  {
    using _names = await host.locks.take(joinPath(state.locks, "names.lock"), scope.signal);
    await refuseTakenName(records, spec.name);
    undo.add("folder", () => host.files.remove(state.vm(id)));
    await host.files.rename(passing, state.vm(id));
  }
  await next(record);
  undo.keep();
}

async function refuseTakenName(records: VmRecords, name: string): Promise<void> {
  const other = (await records.list()).records.find((record) => record.name === name);
  if (other === undefined) return;
  throw new HvError("hv.conflict", `The VM name "${name}" is taken by ${other.id}`, {
    hint: "Choose another name, or remove that VM first",
    context: { name, vm: other.id, wanted: "free", found: "taken" },
  });
}
