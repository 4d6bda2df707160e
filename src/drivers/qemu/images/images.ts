/** The images on this host: `<images>/<name>/image.json` beside the files that it names. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { type Image, ImageFile } from "../../../contract/image.ts";
import { ImageName } from "../../../contract/names.ts";
import type { Boot } from "../launch/machine_plan.ts";
import type { QemuContext } from "../context.ts";

/** The record's name in an image's folder. */
export const IMAGE_RECORD = "image.json";
/** The layout of the record that is written, and the only one that is read. */
export const IMAGE_SCHEMA_VERSION = 1;
/** Folders with this prefix are imports that are going on or were broken off. */
export const IMPORT_PREFIX = ".importing-";
/** Folders with this prefix hold what has come of a download; the next fetch of the name goes on from there. */
export const FETCH_PREFIX = ".fetching-";
/** Folders with this prefix are images on their way out. */
export const DOOMED_PREFIX = ".removing-";

/** What `image.json` holds; `path` is a file's name in the same folder. */
const ImageRecord = z.looseObject({
  schema: z.int(),
  name: z.string(),
  kind: z.enum(["disk", "kernel"]),
  files: z.array(z.looseObject({
    role: ImageFile.shape.role,
    path: z.string().check(z.regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/, "a plain file name")),
    size_bytes: z.int(),
    sha256: z.string(),
    format: z.optional(z.string()),
  })),
  append: z.optional(z.string()),
  /** Where it was downloaded, without what may have been secret in the address. */
  fetched_from: z.optional(z.string()),
  created_at: z.string(),
});
export type ImageRecord = z.infer<typeof ImageRecord>;

/** The folders that are searched for images; new ones go into the first. */
export function imageFolders({ config, state }: QemuContext): readonly [string, ...string[]] {
  const [first, ...others] = config.images;
  return first === undefined ? [state.images] : [first, ...others];
}

/** All images. A damaged one is a warning that names its folder. */
export async function listImages(context: QemuContext): Promise<{ images: Image[]; warnings: string[] }> {
  const { files } = context.host;
  const images: Image[] = [];
  const warnings: string[] = [];
  for (const folder of imageFolders(context)) {
    if (await files.stat(folder, { follow: true }) === undefined) continue;
    for (const { name } of await files.list(folder)) {
      if (name.startsWith(FETCH_PREFIX)) warnings.push(unfetched(name.slice(FETCH_PREFIX.length)));
      if (name.startsWith(".")) continue;
      try {
        const image = await readImage(context, folder, name);
        if (image !== undefined && !images.some((other) => other.name === name)) images.push(image);
      } catch (error) {
        warnings.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  return { images, warnings };
}

function unfetched(name: string): string {
  return `A fetch of "${name}" is under way or did not end: fetch it again to go on, or delete what has come: ` +
    `hvlab image delete ${name}`;
}

/** One image. Throws `hv.not_found`, or `hv.bad_image` when its record is damaged. */
export async function getImage(context: QemuContext, name: string): Promise<Image> {
  if (z.safeParse(ImageName, name).success) {
    for (const folder of imageFolders(context)) {
      const image = await readImage(context, folder, name);
      if (image !== undefined) return image;
    }
  }
  throw new HvError("hv.not_found", `There is no image "${name}"`, {
    hint: "List them with: hvlab image list",
    context: { image: name, folders: [...imageFolders(context)] },
  });
}

/** The image in a folder; `undefined` when there is no record, which also is so while it is being imported. */
async function readImage(context: QemuContext, folder: string, name: string): Promise<Image | undefined> {
  const home = joinPath(folder, name);
  const path = joinPath(home, IMAGE_RECORD);
  const text = await context.host.files.readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return asImage(readImageRecord(text, name), home);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new HvError("hv.bad_image", `The image record "${path}" is damaged: ${words}`, {
      hint: "Import the image anew",
      context: { path, image: name, reason: "damaged_record" },
      cause: error,
    });
  }
}

/** Reads the text of an `image.json`; throws when it is not one. */
export function readImageRecord(text: string, name: string): ImageRecord {
  const parsed = z.safeParse(ImageRecord, parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "not a record"}`);
  }
  const record = parsed.data;
  if (record.schema !== IMAGE_SCHEMA_VERSION) throw new Error(`it has schema ${record.schema}`);
  if (record.name !== name) throw new Error(`it is the record of "${record.name}"`);
  const wanted = record.kind;
  if (!record.files.some(({ role }) => role === wanted)) throw new Error(`it names no ${wanted}`);
  return record;
}

function asImage(record: ImageRecord, folder: string): Image {
  const files = record.files.map(({ role, path, size_bytes, sha256, format }) => ({
    role,
    path: joinPath(folder, path),
    size_bytes,
    sha256,
    ...(format === undefined ? {} : { format }),
  }));
  return {
    name: record.name,
    kind: record.kind,
    files,
    ...(record.append === undefined ? {} : { append: record.append }),
    ...(record.fetched_from === undefined ? {} : { fetched_from: record.fetched_from }),
    folder,
    size_bytes: files.reduce((sum, file) => sum + file.size_bytes, 0),
    created_at: record.created_at,
  };
}

/** The image that a VM was made from. Throws `hv.unsupported` for a VM that was made without one. */
export async function imageOf(
  context: QemuContext,
  { id, name, image }: { id: string; name: string; image?: string | undefined },
): Promise<Image> {
  if (image !== undefined) return await getImage(context, image);
  throw new HvError("hv.unsupported", `"${name}" was not made from an image`, {
    hint: "Look at the VM's folder for what it is made of",
    context: { vm: id },
  });
}

/** How a machine boots from a `kernel` image. `fast` takes the kernel that starts sooner and shows no text screen. */
export function kernelBoot(image: Image, { fast }: { fast: boolean }): Boot & { kind: "kernel" } {
  const path = (role: ImageFile["role"]): string | undefined =>
    image.files.find((file) => file.role === role)?.path;
  const kernel = (fast ? path("fast_kernel") : undefined) ?? path("kernel");
  if (kernel === undefined) {
    throw new HvError("hv.bad_image", `The image "${image.name}" names no kernel`, {
      hint: "Import the image anew",
      context: { image: image.name, reason: "no_kernel" },
    });
  }
  const initrd = path("initrd");
  return {
    kind: "kernel",
    kernel,
    ...(initrd === undefined ? {} : { initrd }),
    ...(image.append === undefined ? {} : { append: image.append }),
  };
}
