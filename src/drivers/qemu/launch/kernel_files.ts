/** A VM's own kernel and initial file system: copied into its folder, since the user's files go on changing. */

import { CPIO_FILE, CPIO_FOLDER, cpioHeader, cpioPadding, cpioTrailer } from "../../../base/cpio.ts";
import { HvError } from "../../../base/errors.ts";
import { joinPath, nameOf } from "../../../base/paths.ts";
import type { Image } from "../../../contract/image.ts";
import type { FileWriter } from "../../../host/files.ts";
import type { KernelSpec } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { checkInitrd, checkKernel } from "../images/checks.ts";
import type { VmRecord } from "../records.ts";

/** Where a build of Linux for x86-64 leaves its kernel. */
const BUILT_KERNEL = ["arch", "x86", "boot", "bzImage"] as const;
const KERNEL_FILE = "kernel";
const INITRD_FILE = "initrd";
const CHUNK_BYTES = 1024 * 1024;
/** Deeper than any tree of modules; a link that leads round in circles is not followed anyway. */
const DEPTH_LIMIT = 32;
const MODULES = "lib/modules";
/** The kernel takes an LZ4 archive to be over only where four zeros follow (lib/decompress_unlz4.c; tried on 6.1). */
const LZ4_END_BYTES = 4;

/**
 * Puts the kernel files of a VM into `folder`: the user's own, and of an image what they leave open. Answers what its
 * record says of them. Throws `hv.usage` when nothing is left to boot, `hv.bad_image` for a file that is no kernel.
 */
export async function makeKernelFiles(
  context: QemuContext,
  spec: KernelSpec,
  image: Image | undefined,
  folder: string,
  signal: AbortSignal,
): Promise<NonNullable<VmRecord["boot"]>> {
  const ofImage = (role: "kernel" | "initrd"): string | undefined =>
    image?.files.find((file) => file.role === role)?.path;
  const kernel = spec.kernel === undefined ? ofImage("kernel") : await findKernel(context, spec.kernel);
  if (kernel === undefined) throw nothingToBoot(image);
  await takeIn(context, kernel, joinPath(folder, KERNEL_FILE), checkKernel);
  const initrd = spec.initrd ?? ofImage("initrd");
  if (initrd !== undefined) await takeIn(context, initrd, joinPath(folder, INITRD_FILE), checkInitrd);
  if (spec.modules !== undefined) {
    if (initrd === undefined) throw noInitrd(spec.modules);
    await appendModules(context, spec.modules, joinPath(folder, INITRD_FILE), signal);
  }
  const append = [image?.append, spec.append].filter((words) => words !== undefined && words !== "").join(
    " ",
  );
  return {
    kernel: KERNEL_FILE,
    ...(initrd === undefined ? {} : { initrd: INITRD_FILE }),
    ...(append === "" ? {} : { append }),
  };
}

async function findKernel({ host }: QemuContext, path: string): Promise<string> {
  const facts = await host.files.stat(path, { follow: true });
  if (facts?.kind !== "folder") return path;
  const built = joinPath(path, ...BUILT_KERNEL);
  if (await host.files.stat(built, { follow: true }) !== undefined) return built;
  throw new HvError("hv.not_found", `The folder "${path}" holds no built kernel: "${built}" is missing`, {
    hint: "Build it with make bzImage, or name the kernel's file",
    context: { path, wanted: built },
  });
}

async function takeIn(
  { host }: QemuContext,
  path: string,
  target: string,
  check: typeof checkKernel,
): Promise<void> {
  const source = await host.files.realPath(path);
  const facts = await host.files.stat(source);
  if (facts?.kind !== "file") {
    throw new HvError("hv.bad_image", `Cannot boot "${path}": it is not a plain file`, {
      hint: "Name a file",
      context: { path, reason: "not_a_file", found: facts?.kind ?? "nothing" },
    });
  }
  await host.files.copy(source, target);
  // The copy counts: the source may change at any time.
  using file = host.files.open(target);
  check(file, path);
}

/**
 * Adds an archive of modules behind the initial file system; the kernel unpacks one after the other. Folders above
 * `lib/modules` are left out of it: an entry for `lib` would take the place of a link of that name.
 */
async function appendModules(
  context: QemuContext,
  source: string,
  initrd: string,
  signal: AbortSignal,
): Promise<void> {
  const { files } = context.host;
  const { from, to } = await placeModules(context, source);
  const whole = `${initrd}.whole`;
  {
    using writer = await files.create(whole);
    const copied = await copyInto(context, initrd, writer, signal);
    await writer.write(new Uint8Array(cpioPadding(copied) + LZ4_END_BYTES));
    let number = 0;
    const add = async (path: string, target: string, depth: number): Promise<void> => {
      signal.throwIfAborted();
      await writer.write(cpioHeader({ path: target, mode: CPIO_FOLDER, size_bytes: 0 }, ++number));
      for (const { name, kind } of await files.list(path)) {
        const inner = joinPath(path, name);
        if (kind === "folder" && depth < DEPTH_LIMIT) await add(inner, `${target}/${name}`, depth + 1);
        // Links lead back to the tree in which the modules were built.
        if (kind === "file") await addFile(context, inner, `${target}/${name}`, ++number, writer, signal);
      }
    };
    if (to !== MODULES) {
      await writer.write(cpioHeader({ path: MODULES, mode: CPIO_FOLDER, size_bytes: 0 }, ++number));
    }
    await add(from, to, 0);
    await writer.write(cpioTrailer());
  }
  await files.rename(whole, initrd);
}

/** `lib/modules` under what `make modules_install` filled, or one release's own folder. */
async function placeModules(
  { host }: QemuContext,
  source: string,
): Promise<{ from: string; to: string }> {
  const installed = joinPath(source, "lib", "modules");
  if ((await host.files.stat(installed, { follow: true }))?.kind === "folder") {
    return { from: installed, to: MODULES };
  }
  const path = await host.files.realPath(source);
  if ((await host.files.stat(path))?.kind === "folder") {
    return { from: path, to: `${MODULES}/${nameOf(path)}` };
  }
  throw new HvError("hv.usage", `"${source}" is not a folder of kernel modules`, {
    hint: "Name what make modules_install filled, or a folder lib/modules/RELEASE",
    context: { path: source },
  });
}

async function addFile(
  context: QemuContext,
  path: string,
  target: string,
  number: number,
  writer: FileWriter,
  signal: AbortSignal,
): Promise<void> {
  using file = context.host.files.open(path);
  await writer.write(cpioHeader({ path: target, mode: CPIO_FILE, size_bytes: file.size }, number));
  const copied = await copyInto(context, path, writer, signal);
  if (copied !== file.size) {
    throw new HvError("hv.io", `"${path}" changed while it was read`, {
      hint: "Wait until the build is done",
      context: { path, wanted: file.size, found: copied },
    });
  }
  await writer.write(new Uint8Array(cpioPadding(copied)));
}

async function copyInto(
  { host }: QemuContext,
  path: string,
  writer: FileWriter,
  signal: AbortSignal,
): Promise<number> {
  using file = host.files.open(path);
  let offset = 0;
  for (;;) {
    signal.throwIfAborted();
    const bytes = file.read(offset, CHUNK_BYTES);
    if (bytes.length === 0) return offset;
    await writer.write(bytes);
    offset += bytes.length;
  }
}

function nothingToBoot(image: Image | undefined): HvError {
  const what = image === undefined ? "there is no image" : `the image "${image.name}" is a disk`;
  return new HvError("hv.usage", `These options need a kernel, and ${what}`, {
    hint: "Give --kernel FILE as well",
    context: image === undefined ? {} : { image: image.name },
  });
}

function noInitrd(modules: string): HvError {
  return new HvError("hv.usage", `There is no initrd that the modules of "${modules}" could be added to`, {
    hint: "Give --initrd FILE as well, or copy the modules into the guest",
    context: { modules },
  });
}
