/** Removing an image with its templates, unless a VM or a disk leans on it. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { Image } from "../../../contract/image.ts";
import type { Loss } from "../../../contract/plan.ts";
import type { Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { refuseDamagedVms } from "../damaged_vms.ts";
import { listBonds } from "../disks/bonds.ts";
import { readDisk } from "../disks/chain.ts";
import { isInside, pathOfParent } from "../disks/places.ts";
import { imageLockPath, takeName } from "./import.ts";
import { DOOMED_PREFIX, FETCH_PREFIX, getImage, imageFolders } from "./images.ts";
import { OVERLAY_FILE } from "../overlay.ts";
import { type VmRecord, VmRecords } from "../records.ts";
import { filesUnder } from "../removal.ts";
import { dropTemplates } from "../templates/drop.ts";
import { listTemplates, templatesFolder } from "../templates/record.ts";

/**
 * What removing an image loses. Throws `hv.not_found`, `hv.conflict` when something leans on it, or `hv.io` when that
 * cannot be told.
 */
export async function lossesOfImage(context: QemuContext, name: string): Promise<Loss[]> {
  const partial = await findPartial(context, name);
  const image = await findImage(context, name, partial);
  if (image !== undefined) await refuseNeeded(context, image);
  const folders = [image?.folder, partial].filter((folder) => folder !== undefined);
  const files = (await Promise.all(folders.map((folder) => filesUnder(context, folder)))).flat();
  const { templates } = await listTemplates(context, name);
  return [
    ...files.map(({ path, size_bytes }) => ({ what: "file", path, size_bytes })),
    ...templates.map(({ record, folder }) => ({ what: `the template ${record.fingerprint}`, path: folder })),
  ];
}

/** Removes an image, its templates, and what has come of an unfinished fetch of its name. */
export async function removeImage(context: QemuContext, name: string, scope: CallScope): Promise<Removed> {
  const { files } = context.host;
  const path = imageLockPath(context, name);
  const partial = await findPartial(context, name);
  const image = await findImage(context, name, partial);
  using _lock = await takeName(context, name, path);
  await using cleaning = new UndoList();
  cleaning.add("lock file", () => files.remove(path));
  const gone: string[] = [];
  if (image !== undefined) {
    await refuseNeeded(context, image);
    for (const removed of await dropTemplates(context, name, scope)) gone.push(...removed.files);
    gone.push(...(await filesUnder(context, image.folder)).map((file) => file.path));
    // Under another name first, so that a call that is killed half-way leaves no image without its files.
    const doomed = image.folder.slice(0, -name.length) + DOOMED_PREFIX + name;
    await files.remove(doomed);
    await files.rename(image.folder, doomed);
    await files.remove(doomed);
  }
  if (partial !== undefined) {
    gone.push(...(await filesUnder(context, partial)).map((file) => file.path));
    await files.remove(partial);
  }
  return { id: name, name, removed: true, files: gone };
}

async function findImage(
  context: QemuContext,
  name: string,
  partial: string | undefined,
): Promise<Image | undefined> {
  try {
    return await getImage(context, name);
  } catch (error) {
    if (partial !== undefined && error instanceof HvError && error.code === "hv.not_found") return undefined;
    throw error;
  }
}

async function findPartial(context: QemuContext, name: string): Promise<string | undefined> {
  const path = joinPath(imageFolders(context)[0], `${FETCH_PREFIX}${name}`);
  return await context.host.files.stat(path) === undefined ? undefined : path;
}

async function refuseNeeded(context: QemuContext, image: Image): Promise<void> {
  const { records, damaged, unfinished } = await new VmRecords(context).list();
  const users: string[] = [];
  for (const record of records) {
    if (record.template?.pooled !== true && await needs(context, record, image)) users.push(record.name);
  }
  const homes = [image.folder, templatesFolder(context, image.name)];
  const isPart = (path: string): boolean => homes.some((home) => isInside(home, path));
  for (const { name, path } of [...damaged, ...unfinished]) {
    if (await ownDiskLeans(context, path, isPart)) users.push(name);
  }
  const disks = (await listBonds(context)).filter(({ parent }) => isInside(image.folder, parent.path));
  const all = [...users.map((name) => `the VM "${name}"`), ...disks.map(({ path }) => `the disk "${path}"`)];
  if (all.length === 0) {
    return await refuseDamagedVms(context, `delete the image "${image.name}"`, "need it", {
      image: image.name,
    });
  }
  throw new HvError("hv.conflict", `Cannot delete the image "${image.name}": ${all.join(", ")} needs it`, {
    hint: "Delete what needs it first",
    context: { image: image.name, wanted: "unused", found: "in use", users: all },
  });
}

/** Whether a VM could not start without the image. */
async function needs(context: QemuContext, record: VmRecord, image: Image): Promise<boolean> {
  if (record.disks?.some(({ path }) => isInside(image.folder, path))) return true;
  if (record.image !== image.name) return false;
  if (image.kind === "kernel") return record.boot === undefined;
  return await ownDiskLeans(context, context.state.vm(record.id), () => true);
}

/** Whether the disk in a VM's folder leans on one that counts. What cannot be read counts. */
async function ownDiskLeans(
  context: QemuContext,
  folder: string,
  counts: (parent: string) => boolean,
): Promise<boolean> {
  const disk = joinPath(folder, OVERLAY_FILE);
  if (await context.host.files.stat(disk) === undefined) return false;
  try {
    const { parent } = (await readDisk(context, disk)).header;
    return parent !== undefined && counts(pathOfParent(disk, parent.names[0]));
  } catch {
    return true;
  }
}
