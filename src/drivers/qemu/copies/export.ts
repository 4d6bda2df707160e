/** A VM as a folder that needs nothing else: whole disks, the files that it boots, and `vm.json` with their digests. */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { DiskMoment } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import { refuseAdopted } from "../adoption/refuse.ts";
import type { QemuContext } from "../context.ts";
import { proveBase } from "../disks/at_start.ts";
import { observe } from "../observe.ts";
import { afterNextStart, type VmRecords } from "../records.ts";
import { copyTpmFiles, refuseBusyTpm } from "../launch/tpm.ts";
import { takeVmLock } from "../vm_lock.ts";
import { copyBootFiles } from "./boot_copy.ts";
import { copyDisks } from "./disk_copy.ts";
import { EXPORT_RECORD, writeExportRecord } from "./export_record.ts";

/** Where an export is at work, noted in the VM's folder: a call that was killed leaves it to the next one to tidy up. */
const NOTE_FILE = "export.txt";

/**
 * Writes the folder under a passing name beside the wanted one and renames it at the end, so that the wanted folder is
 * there whole or not at all. One that exists must be empty. Throws `hv.bad_image` when the disk below the VM's own is
 * not what it was: the export would hold what its guest has never seen.
 */
export async function exportVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  wanted: string,
  scope: CallScope,
): Promise<{ files: string[]; disks?: DiskMoment }> {
  const { files } = context.host;
  const target = wanted.replace(/(?<=.)\/+$/, "");
  await records.get(id);
  await using _lock = await takeVmLock(context, id, "copying", "idle");
  const stored = await records.get(id);
  refuseAdopted(stored, "export");
  const record = afterNextStart(await proveBase(context, stored, scope.signal));
  if (record.tpm) refuseBusyTpm(record, await observe(context, record, scope.signal), "export");
  await refuseTakenFolder(context, target);
  await removeBrokenOff(context, id);
  const parent = folderOf(target);
  await files.makeFolder(parent);
  // A path that begins with a slash is nothing else to qemu-img: no option and no protocol.
  const passing = joinPath(await files.realPath(parent), `.${nameOf(target)}.${id}`);
  const note = joinPath(context.state.vm(id), NOTE_FILE);
  await using undo = new UndoList();
  undo.add("note", () => files.remove(note));
  await files.writeAtomically(note, passing);
  undo.add("folder", () => files.remove(passing));
  await files.makeFolder(passing);
  const targetOf = ({ node }: { node: string }): string => joinPath(passing, `${node}.qcow2`);
  const { copies, moment } = await copyDisks(context, record, targetOf, "whole", scope);
  const { boot } = await copyBootFiles(context, record, passing);
  const tpm = record.tpm ? { files: await copyTpmFiles(context, id, passing) } : undefined;
  if (tpm !== undefined) {
    scope.warn?.("The export holds the secrets of the VM's TPM: keep it as you keep them");
  }
  if (record.iso !== undefined) {
    scope.warn?.(`The disc "${record.iso}" stays where it is: an export holds no discs`);
  }
  for (const { path } of record.disks ?? []) {
    scope.warn?.(`The attached disk "${path}" stays where it is: an export holds the VM's own disks`);
  }
  for (const { host } of record.shares ?? []) {
    scope.warn?.(`The shared folder "${host}" stays where it is: an export holds no shared folders`);
  }
  const disks = copies.map(({ node, target: path }) => ({
    node,
    file: nameOf(path),
    format: "qcow2" as const,
  }));
  scope.progress({ message: "Writing digests" });
  await writeExportRecord(
    context,
    passing,
    record,
    { boot, disks, ...(tpm === undefined ? {} : { tpm }) },
    scope.signal,
  );
  scope.signal.throwIfAborted();
  await files.rename(passing, target);
  undo.keep();
  await files.remove(note);
  const names = (await files.list(target)).map(({ name }) => name).filter((name) => name !== EXPORT_RECORD);
  return {
    files: [EXPORT_RECORD, ...names].map((name) => joinPath(target, name)),
    ...(moment === undefined ? {} : { disks: moment }),
  };
}

async function refuseTakenFolder({ host }: QemuContext, target: string): Promise<void> {
  const facts = await host.files.stat(target);
  if (facts === undefined) return;
  if (facts.kind === "folder" && (await host.files.list(target)).length === 0) return;
  const found = facts.kind === "folder" ? "it is a folder with files in it" : `it is a ${facts.kind}`;
  throw new HvError("hv.conflict", `Cannot export to "${target}": ${found}`, {
    hint: "Name a folder that does not exist yet",
    context: { path: target, wanted: "absent", found: "present" },
  });
}

/** Removes what an earlier export of this VM left that was killed: only a folder that bears the VM's id. */
async function removeBrokenOff({ host, state }: QemuContext, id: string): Promise<void> {
  const note = joinPath(state.vm(id), NOTE_FILE);
  const passing = await host.files.readTextIfPresent(note);
  if (passing === undefined) return;
  const facts = await host.files.stat(passing);
  if (facts?.kind === "folder" && passing.endsWith(`.${id}`)) await host.files.remove(passing);
  await host.files.remove(note);
}
