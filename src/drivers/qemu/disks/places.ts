/** Where disks lie: paths that users give, and names that disks give, which are believed in nothing. */

import { HvError } from "../../../base/errors.ts";
import { folderOf, isAbsolutePath, joinPath, nameOf, resolvePath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { badDisk } from "./bad_disk.ts";

/** What belongs to the system and is nobody's disk; a guest that gets one as its disk's parent could read it. */
const SYSTEM_FOLDERS = [
  ..."bin boot dev etc lib lib32 lib64 proc root/.ssh run sbin sys usr var/lib/dpkg var/log".split(" ")
    .map((name) => `/${name}/`),
];
/** A protocol of QEMU such as `nbd:` or `json:`; a single letter is a drive of Windows. */
const PROTOCOL = /^[A-Za-z][A-Za-z0-9+.-]+:/;

/** The real path of a file that is to be a disk. Throws `hv.not_found`, or `hv.bad_image` for what is no plain file. */
export async function findDiskFile({ host }: QemuContext, path: string): Promise<string> {
  const real = await host.files.realPath(path);
  const facts = await host.files.stat(real);
  if (facts?.kind === "file") return real;
  throw badDisk(path, "not_a_file", `it is ${facts?.kind === "folder" ? "a folder" : "no plain file"}`, {
    expected: "a file",
  });
}

/** The full path of a file that is to be made, in a folder that is there. Throws `hv.not_found` without the folder. */
export async function placeOfNewDisk({ host }: QemuContext, path: string): Promise<string> {
  const name = nameOf(path);
  if (name === "" || name === "." || name === "..") {
    throw new HvError("hv.usage", `"${path}" names no file`, {
      hint: "Give a file's name",
      context: { path },
    });
  }
  return joinPath(await host.files.realPath(folderOf(path)), name);
}

/** Whether a parent's name is no path of a file at all. */
export function isNetworkName(name: string): boolean {
  return PROTOCOL.test(name) && !name.slice(0, name.indexOf(":")).includes("/");
}

/** Whether a file lies below a folder. */
export function isInside(folder: string, path: string): boolean {
  return path.startsWith(joinPath(folder, ""));
}

/** Whether a file belongs to the system. */
export function isSystemFile(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => path.startsWith(folder)) || /^[A-Za-z]:\\Windows\\/i.test(path);
}

/** A parent's name as a full path, as seen from its child. Names of Windows get the separators of this system. */
export function pathOfParent(child: string, name: string): string {
  const local = isAbsolutePath(child) && child.startsWith("/") && !isAbsolutePath(name)
    ? name.replaceAll("\\", "/")
    : name;
  return resolvePath(folderOf(child), local);
}
