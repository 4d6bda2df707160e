/** What a VM boots: from its record, its own folder and its image. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Boot, Drive, MachinePlan } from "./machine_plan.ts";
import { SEED_FILE } from "../cloud_init/seed.ts";
import type { QemuContext } from "../context.ts";
import { panicWords } from "../crashes/panic_words.ts";
import { uefiFiles } from "./firmware.ts";
import { imageOf, kernelBoot } from "../images/images.ts";
import { nicPlans, refuseUnnamedTaps } from "../network/nic_records.ts";
import { OVERLAY_FILE } from "../overlay.ts";
import type { VmRecord } from "../records.ts";

/** How the VM starts. A missing disk is `hv.io`. */
export async function bootOf(context: QemuContext, record: VmRecord): Promise<Boot> {
  const home = context.state.vm(record.id);
  const path = joinPath(home, OVERLAY_FILE);
  const disk: Drive | undefined = await context.host.files.stat(path) === undefined
    ? undefined
    : { path, format: "qcow2" };
  const kernel = await kernelOf(context, record);
  if (kernel !== undefined) {
    const append = [kernel.append ?? "", ...panicWords(record)].filter((words) => words !== "").join(" ");
    return { ...kernel, ...(append === "" ? {} : { append }), ...(disk === undefined ? {} : { disk }) };
  }
  if (disk !== undefined) return { kind: "disk", ...disk };
  if (record.image === undefined && hasDrive(record)) return { kind: "nothing" };
  throw new HvError("hv.io", `The disk "${path}" of "${record.name}" is missing`, {
    hint: "Restore the file, or delete the VM",
    context: { vm: record.id, path },
  });
}

/**
 * The kernel that it boots, its own before its image's; `undefined` for a VM that boots a disk or a disc. Lasting VMs
 * boot the kernel whose screen shows the guest, sandboxes the one that is up first.
 */
export async function kernelOf(
  context: QemuContext,
  record: VmRecord,
): Promise<Boot & { kind: "kernel" } | undefined> {
  const { boot, image, sandbox } = record;
  if (boot !== undefined) {
    const home = context.state.vm(record.id);
    return {
      kind: "kernel",
      kernel: joinPath(home, boot.kernel),
      ...(boot.initrd === undefined ? {} : { initrd: joinPath(home, boot.initrd) }),
      ...(boot.append === undefined ? {} : { append: boot.append }),
    };
  }
  if (image === undefined || await bootsDisk(context, record)) return undefined;
  const found = await imageOf(context, record);
  return found.kind === "kernel" ? kernelBoot(found, { fast: sandbox !== undefined }) : undefined;
}

/** Whether its disk is what it starts from; its image may then be gone, as long as the disk leans on nothing. */
async function bootsDisk(
  { host, state }: QemuContext,
  { id, data_disk: isData }: VmRecord,
): Promise<boolean> {
  return !isData && await host.files.stat(joinPath(state.vm(id), OVERLAY_FILE)) !== undefined;
}

/** The parts of its machine that not every VM has. */
export async function partsOf(
  context: QemuContext,
  record: VmRecord,
): Promise<Pick<MachinePlan, "dvd" | "seed" | "uefi" | "nics" | "serialSocket" | "watchdog">> {
  const { id, iso, firmware, serial_socket, watchdog } = record;
  refuseUnnamedTaps(context, record);
  return {
    ...(hasDrive(record) ? { dvd: iso === undefined ? {} : { disc: iso } } : {}),
    ...(record.cloud_init ? { seed: joinPath(context.state.vm(id), SEED_FILE) } : {}),
    ...(serial_socket === undefined ? {} : { serialSocket: serial_socket }),
    ...(watchdog === undefined ? {} : { watchdog }),
    ...(firmware === undefined || firmware === "bios"
      ? {}
      : { uefi: await uefiFiles(context, firmware, context.state.vm(id)) }),
    nics: nicPlans(record),
  };
}

/** Whether a VM has a drive, with or without a disc in it. */
export function hasDrive({ iso, dvd }: VmRecord): boolean {
  return iso !== undefined || dvd === true;
}
