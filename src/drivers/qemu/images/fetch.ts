/** Images from elsewhere: downloaded beside the images, proved by their digest, and taken in like imported ones. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Image } from "../../../contract/image.ts";
import { withoutSecrets } from "../../../host/downloads.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ImageFetch } from "../../image_store_abilities.ts";
import type { QemuContext } from "../context.ts";
import { digestFile } from "../../copy_with_digest.ts";
import { formatOptions } from "../disks/create.ts";
import { tellQemuImg } from "../disks/disk_program.ts";
import { qemuName } from "../disks/format_names.ts";
import type { DiskHeader } from "../disks/headers/header.ts";
import { readDiskHeader } from "../disks/headers/read.ts";
import { download } from "./download.ts";
import { bringInImage } from "./import.ts";
import { FETCH_PREFIX, imageFolders, type ImageRecord } from "./images.ts";

const DISK_FILE = "disk.img";
const CONVERTED: ReadonlySet<string> = new Set(["vhdx", "vhd", "vmdk"]);

/**
 * Fetches an image. What has come of a download that broke off stays for the next fetch of the name. Throws
 * `hv.bad_image` when the bytes are not those that were asked for, `hv.unavailable` when the server does not deliver.
 */
export async function fetchImage(context: QemuContext, wish: ImageFetch, scope: CallScope): Promise<Image> {
  const { files } = context.host;
  const [folder] = imageFolders(context);
  const passing = joinPath(folder, `${FETCH_PREFIX}${wish.name}`);
  const image = await bringInImage(context, wish.name, scope, async (home) => {
    const path = await download(context, wish, passing, scope);
    scope.progress({ message: "Checking the image" });
    const header = await readStandalone(context, path).catch(async (error) => {
      // The right bytes, and of no use: they need not come again.
      await files.remove(passing);
      throw error;
    });
    const target = joinPath(home, DISK_FILE);
    const disk = CONVERTED.has(header.format)
      ? await convert(context, header, path, target, scope)
      : await moveIn(context, header, path, target, wish.sha256);
    await files.makeReadOnly(target);
    return { kind: "disk", files: [disk], fetched_from: withoutSecrets(wish.url) };
  });
  await files.remove(passing);
  return image;
}

/** Nothing that comes from elsewhere may name another file of this host. */
async function readStandalone({ host }: QemuContext, path: string): Promise<DiskHeader> {
  using file = host.files.open(path);
  const header = await Promise.resolve(readDiskHeader(file, path));
  const named = header.dataFile ?? header.parent?.names[0];
  if (named === undefined && !header.markedCorrupt) return header;
  throw new HvError(
    "hv.bad_image",
    named === undefined
      ? "The fetched disk is marked as corrupt"
      : `The fetched disk leans on another file, "${named}", which is not followed`,
    {
      hint: "Fetch a disk that stands alone",
      context: { path, reason: named === undefined ? "marked_corrupt" : "backing_file" },
    },
  );
}

async function moveIn(
  context: QemuContext,
  { format }: DiskHeader,
  path: string,
  target: string,
  sha256: string,
): Promise<ImageRecord["files"][number]> {
  const { files } = context.host;
  await files.rename(path, target);
  const size = (await files.stat(target))?.size_bytes ?? 0;
  return { role: "disk", path: DISK_FILE, size_bytes: size, sha256, format };
}

/** VMs lean on qcow2 or raw, so what comes in another format is written anew. */
async function convert(
  context: QemuContext,
  { format }: DiskHeader,
  path: string,
  target: string,
  scope: CallScope,
): Promise<ImageRecord["files"][number]> {
  const words = [
    "convert",
    "-p",
    "-f",
    qemuName(format),
    "-O",
    "qcow2",
    ...formatOptions("qcow2", "dynamic"),
  ];
  await tellQemuImg(context, [...words, path, target], path, scope, {
    shows: "Converting to qcow2",
    written: target,
  });
  const digest = await digestFile(context, target, scope.signal);
  return { role: "disk", path: DISK_FILE, ...digest, format: "qcow2" };
}
