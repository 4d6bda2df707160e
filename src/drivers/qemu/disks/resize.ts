/** Growing disks, at rest and under a running guest. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Disk } from "../../../contract/disk.ts";
import { refuseBroken } from "../../broken_chain.ts";
import type { CallScope } from "../../call_scope.ts";
import { textIn } from "../monitor/answers.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { DISK_FILES } from "../overlay.ts";
import type { VmRecord } from "../records.ts";
import { describeDisk, readChain, readDisk } from "./chain.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { tellQemuImg } from "./disk_program.ts";
import { qemuName } from "./format_names.ts";
import { attachedBlocks } from "./live.ts";
import { findDiskFile } from "./places.ts";
import { findVms, refuseParent, refuseStored } from "./users.ts";

/** Formats that QEMU can grow. */
const GROWABLE: ReadonlySet<string> = new Set(["qcow2", "raw"]);

/** Grows a disk. One that has the size already stays as it is. */
export async function resizeDisk(
  context: QemuContext,
  path: string,
  sizeBytes: number,
  scope: CallScope,
): Promise<Disk> {
  const real = await findDiskFile(context, path);
  await using _lock = await takeDiskLock(context, real);
  const chain = await readChain(context, path, scope.signal);
  refuseBroken(chain);
  const { header } = await readDisk(context, path);
  if (BigInt(sizeBytes) < header.size) {
    throw new HvError("hv.usage", `"${path}" has ${header.size} bytes, and ${sizeBytes} are fewer`, {
      hint: "A disk only grows; convert it to lose what lies beyond",
      context: { path, found: String(header.size), wanted: String(sizeBytes) },
    });
  }
  if (BigInt(sizeBytes) === header.size) return await describeDisk(context, { path: real, header });
  if (!GROWABLE.has(header.format)) {
    throw new HvError("hv.unsupported", `QEMU cannot grow a disk of the format ${header.format}`, {
      hint: "Convert it to qcow2 first: hvlab disk convert PATH NEW.qcow2",
      context: { path, format: header.format },
    });
  }
  refuseStored(context, real, "grow");
  await refuseParent(context, real, "grow", scope.signal);
  const user = (await findVms(context, real, scope.signal)).find(({ alive }) => alive);
  if (user === undefined) {
    const words = ["resize", "-q", "-f", qemuName(header.format), real, String(sizeBytes)];
    await tellQemuImg(context, words, real, scope);
  } else await growLive(context, user.record, real, sizeBytes);
  return await describeDisk(context, await readDisk(context, path));
}

/** The guest sees the new size at once. */
async function growLive(
  context: QemuContext,
  record: VmRecord,
  path: string,
  sizeBytes: number,
): Promise<void> {
  const monitor = new VmMonitor(context, record);
  const blocks = await attachedBlocks(monitor);
  const own = DISK_FILES.find(({ file }) => path === joinPath(context.state.vm(record.id), file))?.node;
  const node = own ?? blocks.find((block) => block.path === path)?.node;
  if (node === undefined) {
    throw new HvError(
      "hv.conflict",
      `Cannot grow "${path}": "${record.name}" runs and does not have it now`,
      {
        hint: `Stop the VM first: hvlab vm stop ${record.id}`,
        context: { path, vm: record.id, wanted: "attached or not in use", found: "in use" },
      },
    );
  }
  try {
    await monitor.tell("block_resize", { "node-name": node, "size": sizeBytes });
  } catch (error) {
    if (!(error instanceof HvError)) throw error;
    const words = textIn(error.context, "qemu") ?? error.message;
    const isFull = words.includes("No space left");
    throw new HvError(isFull ? "hv.io" : error.code, `Cannot grow "${path}" of "${record.name}": ${words}`, {
      hint: isFull ? "Free some space" : "Stop the VM, and grow the disk then",
      context: { path, vm: record.id, ...(isFull ? { reason: "disk_full" } : {}) },
      cause: error,
    });
  }
}
