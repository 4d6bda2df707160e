/** Taking an image in: files are copied, digested on the way, checked, made read-only, and appear all at once. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { Image, ImageFile } from "../../../contract/image.ts";
import { ImageName } from "../../../contract/names.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ImageSource } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { copyWithDigest } from "../../copy_with_digest.ts";
import {
  checkDiskHeader,
  checkDiskWithProgram,
  checkFastKernel,
  checkInitrd,
  checkKernel,
} from "./checks.ts";
import {
  DOOMED_PREFIX,
  getImage,
  IMAGE_RECORD,
  IMAGE_SCHEMA_VERSION,
  imageFolders,
  type ImageRecord,
  IMPORT_PREFIX,
} from "./images.ts";
import { findQemuImg } from "../launch/program.ts";

type Role = ImageFile["role"];

/** One file to take in. */
interface Part {
  role: Role;
  source: string;
  /** Its name in the image's folder. */
  target: string;
}

/**
 * Takes an image in. Throws `hv.usage` for parts that do not go together, `hv.conflict` when the name is taken and
 * `hv.bad_image` for files that are no image; nothing is left behind then.
 */
export async function importImage(
  context: QemuContext,
  source: ImageSource,
  scope: CallScope,
): Promise<Image> {
  const parts = partsOf(source);
  return await bringInImage(context, source.name, scope, async (home) => {
    const files: ImageRecord["files"] = [];
    for (const part of parts) files.push(await takeIn(context, part, home, scope));
    return {
      kind: source.disk === undefined ? "kernel" : "disk",
      files,
      ...(source.append === undefined ? {} : { append: source.append }),
    };
  });
}

/** Lets an image come into being whole or not at all: `fill` puts its files into a passing folder and says what they are. */
export async function bringInImage(
  context: QemuContext,
  name: string,
  scope: CallScope,
  fill: (home: string) => Promise<Pick<ImageRecord, "kind" | "files" | "append" | "fetched_from">>,
): Promise<Image> {
  const { host } = context;
  const [folder] = imageFolders(context);
  const lockPath = imageLockPath(context, name);
  using _lock = await takeName(context, name, lockPath);
  await using cleaning = new UndoList();
  cleaning.add("lock file", () => host.files.remove(lockPath));
  await refuseTaken(context, folder, name);
  await host.files.makeFolder(folder);
  await removeBrokenOff(context, folder, name);

  const home = joinPath(folder, `${IMPORT_PREFIX}${name}`);
  await using undo = new UndoList();
  undo.add("image folder", () => host.files.remove(home));
  await host.files.makeFolder(home, { mode: 0o755 });
  const record: ImageRecord = {
    schema: IMAGE_SCHEMA_VERSION,
    name,
    ...await fill(home),
    created_at: new Date(host.clock.now()).toISOString(),
  };
  await host.files.writeAtomically(joinPath(home, IMAGE_RECORD), JSON.stringify(record, undefined, 2) + "\n");
  scope.signal.throwIfAborted();
  await host.files.rename(home, joinPath(folder, name));
  undo.keep();
  return await getImage(context, name);
}

/** The lock under which an image comes and goes. */
export function imageLockPath({ state }: QemuContext, name: string): string {
  return joinPath(state.locks, `image-${name}.lock`);
}

function partsOf(source: ImageSource): Part[] {
  if (!z.safeParse(ImageName, source.name).success) {
    throw usage(`"${source.name}" is not an image name`, "Use letters, digits, dots, dashes and underscores");
  }
  const { disk, kernel, fast_kernel: fastKernel, initrd } = source;
  if (disk !== undefined) {
    if (
      kernel !== undefined || fastKernel !== undefined || initrd !== undefined || source.append !== undefined
    ) {
      throw usage("An image has either a disk or a kernel", "Leave out one of them");
    }
    return [{ role: "disk", source: disk, target: "disk.img" }];
  }
  if (kernel === undefined) {
    throw usage("An image needs a disk or a kernel", "Give --disk FILE or --kernel FILE");
  }
  return [
    { role: "kernel", source: kernel, target: "kernel" },
    ...(fastKernel === undefined
      ? []
      : [{ role: "fast_kernel" as const, source: fastKernel, target: "fast_kernel" }]),
    ...(initrd === undefined ? [] : [{ role: "initrd" as const, source: initrd, target: "initrd" }]),
  ];
}

function usage(message: string, hint: string): HvError {
  return new HvError("hv.usage", message, { hint });
}

/** Takes an image's lock. Throws `hv.conflict` at once when another call has it. */
export async function takeName(context: QemuContext, name: string, path: string): Promise<Disposable> {
  const lock = await context.host.locks.tryTake(path);
  if (lock !== undefined) return lock;
  throw new HvError("hv.conflict", `Another call is at work on the image "${name}"`, {
    hint: "Wait until it is done",
    context: { image: name, wanted: "idle", found: "busy" },
  });
}

async function refuseTaken(context: QemuContext, folder: string, name: string): Promise<void> {
  const path = joinPath(folder, name);
  if (await context.host.files.stat(path) === undefined) return;
  throw new HvError("hv.conflict", `The image name "${name}" is taken`, {
    hint: "Choose another name, or delete the image first",
    context: { image: name, path, wanted: "absent", found: "present" },
  });
}

/** An import or a removal that was killed left its folder; under the name's lock nobody can be at work in it. */
async function removeBrokenOff(context: QemuContext, folder: string, name: string): Promise<void> {
  await context.host.files.remove(joinPath(folder, `${IMPORT_PREFIX}${name}`));
  await context.host.files.remove(joinPath(folder, `${DOOMED_PREFIX}${name}`));
}

async function takeIn(
  context: QemuContext,
  part: Part,
  home: string,
  scope: CallScope,
): Promise<ImageRecord["files"][number]> {
  const { files } = context.host;
  const source = await files.realPath(part.source);
  const facts = await files.stat(source);
  if (facts?.kind !== "file") {
    throw new HvError(
      "hv.bad_image",
      `Cannot use "${part.source}" as part of an image: it is not a plain file`,
      {
        hint: "Give a file",
        context: { path: part.source, reason: "not_a_file", found: facts?.kind ?? "nothing" },
      },
    );
  }
  check(context, part, source);
  const target = joinPath(home, part.target);
  const digest = await copyWithDigest(context, part.role, source, target, scope);
  // The copy counts: the source may have changed since it was looked at.
  const format = check(context, part, target);
  if (format !== undefined) {
    await findQemuImg(context);
    await checkDiskWithProgram(context, target, format, scope.signal);
  }
  await files.makeReadOnly(target);
  return {
    role: part.role,
    path: part.target,
    size_bytes: digest.size_bytes,
    sha256: digest.sha256,
    ...(format === undefined ? {} : { format }),
  };
}

/** Checks a file for its role; answers a disk's format. */
function check({ host }: QemuContext, { role }: Part, path: string): "qcow2" | "raw" | undefined {
  using file = host.files.open(path);
  if (role === "disk") return checkDiskHeader(file, path);
  if (role === "kernel") checkKernel(file, path);
  else if (role === "fast_kernel") checkFastKernel(file, path);
  else checkInitrd(file, path);
  return undefined;
}
