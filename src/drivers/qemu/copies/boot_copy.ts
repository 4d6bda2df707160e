/** The kernel files of a VM beside its other files in a folder. */

import { joinPath } from "../../../base/paths.ts";
import { kernelOf } from "../launch/boot_files.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import type { ExportRecord } from "./export_record.ts";

/** Copies what a VM boots besides its disks; answers what an exported record says of it, and the files. */
export async function copyBootFiles(
  context: QemuContext,
  record: VmRecord,
  folder: string,
): Promise<{ boot: ExportRecord["boot"]; files: string[] }> {
  const kernel = await kernelOf(context, record);
  if (kernel === undefined) return { boot: { kind: "disk" }, files: [] };
  const files: string[] = [];
  const copy = async (path: string, name: string): Promise<void> => {
    const target = joinPath(folder, name);
    await context.host.files.copy(path, target);
    files.push(target);
  };
  await copy(kernel.kernel, "kernel");
  if (kernel.initrd !== undefined) await copy(kernel.initrd, "initrd");
  return {
    boot: {
      kind: "kernel",
      kernel: "kernel",
      ...(kernel.initrd === undefined ? {} : { initrd: "initrd" }),
      ...(kernel.append === undefined ? {} : { append: kernel.append }),
    },
    files,
  };
}
