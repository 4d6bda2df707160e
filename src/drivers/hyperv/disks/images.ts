/**
 * Images of this driver: virtual disks that VMs and sandboxes lean on, `<state>/hyperv_images/<name>/image.json` beside
 * the disk.
 */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { Image } from "../../../contract/image.ts";
import { ImageName } from "../../../contract/names.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import { copyWithDigest } from "../../copy_with_digest.ts";
import type { ImageAbilities, ImageSource } from "../../driver.ts";
import type { HyperV } from "../client.ts";
import { refuseName } from "../paths.ts";

const RECORD = "image.json";
const SCHEMA = 1;
/** Folders with this prefix are imports that are going on or were broken off. */
const IMPORT_PREFIX = ".importing-";

const ImageRecord = z.looseObject({
  schema: z.literal(SCHEMA),
  name: z.string(),
  disk: z.enum(["disk.vhdx", "disk.vhd"]),
  format: z.enum(["vhdx", "vhd"]),
  size_bytes: z.int(),
  sha256: z.string(),
  created_at: z.string(),
});
type ImageRecord = z.infer<typeof ImageRecord>;

/** The images of this state folder. */
export function openImages(hyperv: HyperV, state: StateFolder): ImageAbilities {
  return {
    list: () => listImages(hyperv, state),
    get: (name) => getImage(hyperv, state, name),
    import: (source, scope) => importImage(hyperv, state, source, scope),
  };
}

/** One image. Throws `hv.not_found`, or `hv.bad_image` when its record is damaged. */
export async function getImage(hyperv: HyperV, state: StateFolder, name: string): Promise<Image> {
  const image = z.safeParse(ImageName, name).success ? await readImage(hyperv, state, name) : undefined;
  if (image !== undefined) return image;
  throw new HvError("hv.not_found", `There is no image "${name}"`, {
    hint: "List them with: hvlab image list",
    context: { image: name, folders: [state.hypervImages] },
  });
}

/** The disk that VMs of an image lean on. */
export function diskOf({ files: [disk], name }: Image): string {
  if (disk !== undefined) return disk.path;
  throw new HvError("hv.bad_image", `The image "${name}" has no disk`, {
    hint: "Import the image anew",
    context: { image: name, reason: "no_disk" },
  });
}

async function listImages(
  hyperv: HyperV,
  state: StateFolder,
): Promise<{ images: Image[]; warnings: string[] }> {
  const { files } = hyperv.host;
  const images: Image[] = [];
  const warnings: string[] = [];
  if (await files.stat(state.hypervImages, { follow: true }) === undefined) return { images, warnings };
  for (const { name } of await files.list(state.hypervImages)) {
    if (name.startsWith(".")) continue;
    try {
      const image = await readImage(hyperv, state, name);
      if (image !== undefined) images.push(image);
    } catch (error) {
      warnings.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { images, warnings };
}

async function readImage({ host }: HyperV, state: StateFolder, name: string): Promise<Image | undefined> {
  const folder = joinPath(state.hypervImages, name);
  const path = joinPath(folder, RECORD);
  const text = await host.files.readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    const record = ImageRecord.parse(parseJson(text));
    // Windows finds a folder by its name in any case.
    if (record.name !== name && record.name.toLowerCase() === name.toLowerCase()) return undefined;
    if (record.name !== name) throw new Error(`it is the record of "${record.name}"`);
    return imageOf(record, folder);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new HvError("hv.bad_image", `The image record "${path}" is damaged: ${words}`, {
      hint: "Import the image anew",
      context: { path, image: name, reason: "damaged_record" },
      cause: error,
    });
  }
}

function imageOf({ name, disk, format, size_bytes, sha256, created_at }: ImageRecord, folder: string): Image {
  const file = { role: "disk" as const, path: joinPath(folder, disk), size_bytes, sha256, format };
  return { name, kind: "disk", files: [file], folder, size_bytes, created_at };
}

/** Copies a disk, lets Hyper-V look at the copy, makes it read-only; the image appears whole or not at all. */
async function importImage(
  hyperv: HyperV,
  state: StateFolder,
  { name, disk, kernel, fast_kernel, initrd, append }: ImageSource,
  scope: CallScope,
): Promise<Image> {
  const { files, locks, clock } = hyperv.host;
  if ([kernel, fast_kernel, initrd, append].some((part) => part !== undefined) || disk === undefined) {
    throw new HvError("hv.usage", "An image for Hyper-V is one disk", {
      hint: "Give --disk FILE, a .vhdx or .vhd",
      context: { image: name },
    });
  }
  refuseName(name, "an image's folder", { image: name });
  const lockPath = joinPath(state.locks, `hyperv-image-${name}.lock`);
  using _lock = await locks.take(lockPath, scope.signal);
  const folder = joinPath(state.hypervImages, name);
  if (await files.stat(folder) !== undefined) {
    throw new HvError("hv.conflict", `The image name "${name}" is taken`, {
      hint: "Choose another name, or delete the image first",
      context: { image: name, path: folder, wanted: "absent", found: "present" },
    });
  }
  const source = await files.realPath(disk);
  const format = formatOf(source, name);
  const passing = joinPath(state.hypervImages, `${IMPORT_PREFIX}${name}`);
  // Under the name's lock nobody can be at work in what a killed import left.
  await files.remove(passing);
  await using undo = new UndoList();
  undo.add("image folder", () => files.remove(passing));
  await files.makeFolder(passing, { mode: 0o755 });
  const copy = joinPath(passing, `disk.${format}`);
  const digest = await copyWithDigest(hyperv, "disk", source, copy, scope);
  await refuseUnfitDisk(hyperv, copy, disk, scope.signal);
  await files.makeReadOnly(copy);
  const record: ImageRecord = {
    schema: SCHEMA,
    name,
    disk: `disk.${format}`,
    format,
    ...digest,
    created_at: new Date(clock.now()).toISOString(),
  };
  await files.writeAtomically(joinPath(passing, RECORD), JSON.stringify(record, undefined, 2) + "\n");
  scope.signal.throwIfAborted();
  await files.rename(passing, folder);
  undo.keep();
  return imageOf(record, folder);
}

/** Hyper-V tells the formats by the ending. */
function formatOf(path: string, name: string): "vhdx" | "vhd" {
  const [, ending] = /\.(vhdx|vhd)$/i.exec(path) ?? [];
  if (ending !== undefined) return ending.toLowerCase() === "vhd" ? "vhd" : "vhdx";
  throw new HvError("hv.bad_image", `"${path}" is no .vhdx or .vhd file`, {
    hint: "Convert it first, for example with qemu-img convert -O vhdx",
    context: { path, image: name, reason: "format" },
  });
}

/** An image stands alone: a disk that hangs on another one would change with it. */
async function refuseUnfitDisk(
  hyperv: HyperV,
  copy: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  let parent: string | null;
  try {
    ({ parent } = await hyperv.imageDisk(copy, signal));
  } catch (error) {
    if (!(error instanceof HvError) || error.code === "hv.timeout" || error.code === "hv.cancelled") {
      throw error;
    }
    throw new HvError("hv.bad_image", `Hyper-V cannot read the disk "${path}": ${error.message}`, {
      hint: "Give a whole .vhdx or .vhd file",
      context: { ...error.context, path, reason: "disk" },
      cause: error,
    });
  }
  if (parent === null) return;
  throw new HvError("hv.bad_image", `The disk "${path}" hangs on "${parent}"`, {
    hint: "Merge it first, or give its parent",
    context: { path, reason: "differencing", parent },
  });
}
