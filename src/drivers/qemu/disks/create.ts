/** Making disks: blank ones, and ones that hold the differences to another. */

import { HvError } from "../../../base/errors.ts";
import { nameOf } from "../../../base/paths.ts";
import type { Disk, DiskFormat, DiskType } from "../../../contract/disk.ts";
import { refuseBroken } from "../../broken_chain.ts";
import type { CallScope } from "../../call_scope.ts";
import type { DiskSpec } from "../../disk_abilities.ts";
import type { QemuContext } from "../context.ts";
import { removeBond, sweepBonds, takeFingerprint, writeBond } from "./bonds.ts";
import { describeDisk, readChain, readDisk } from "./chain.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { makeWhole } from "./make_whole.ts";
import { tellQemuImg } from "./disk_program.ts";
import { qemuName } from "./format_names.ts";
import { placeOfNewDisk } from "./places.ts";
import { refuseReplacing, refuseRunning, refuseWriters } from "./users.ts";

const ENDINGS: ReadonlyMap<string, DiskFormat> = new Map([
  ["qcow2", "qcow2"],
  ["raw", "raw"],
  ["img", "raw"],
  ["vhdx", "vhdx"],
  ["vhd", "vhd"],
  ["vpc", "vhd"],
  ["vmdk", "vmdk"],
]);

/** The format that a new file's name stands for; qcow2 when it stands for none. */
export function formatOfName(path: string): DiskFormat {
  return ENDINGS.get(/\.([A-Za-z0-9]+)$/.exec(nameOf(path))?.[1]?.toLowerCase() ?? "") ?? "qcow2";
}

/** What qemu-img is told about a format and how its space is taken. Throws `hv.unsupported` for what it cannot make. */
export function formatOptions(format: DiskFormat, type: Exclude<DiskType, "differencing">): string[] {
  const isFixed = type === "fixed";
  switch (format) {
    case "qcow2":
    case "raw":
      return isFixed ? ["-o", "preallocation=falloc"] : [];
    case "vhdx":
      return ["-o", `subformat=${type}`];
    case "vhd":
      // Without it the size is rounded to a geometry of cylinders, and a guest sees another one than was asked for.
      return ["-o", `subformat=${type},force_size=on`];
    case "vmdk":
      if (!isFixed) return ["-o", "subformat=monolithicSparse"];
      throw new HvError("hv.unsupported", "A fixed VMDK would be two files, which hvlab does not make", {
        hint: "Make it dynamic, or choose another format",
        context: { format, type },
      });
  }
}

/** Makes a disk. */
export async function createDisk(context: QemuContext, spec: DiskSpec, scope: CallScope): Promise<Disk> {
  const path = await placeOfNewDisk(context, spec.path);
  const format = spec.format ?? formatOfName(path);
  await using _lock = await takeDiskLock(context, path);
  await sweepBonds(context);
  if (spec.overwrite) await refuseReplacing(context, path, scope.signal);
  if (spec.type === "differencing") await createDifferencing(context, path, format, spec, scope);
  else await createBlank(context, path, format, spec.type, spec, scope);
  return await describeDisk(context, await readDisk(context, path));
}

async function createBlank(
  context: QemuContext,
  path: string,
  format: DiskFormat,
  type: Exclude<DiskType, "differencing">,
  { size_bytes: size, parent, overwrite }: DiskSpec,
  scope: CallScope,
): Promise<void> {
  if (parent !== undefined) throw usage(`A ${type} disk leans on nothing`, "Leave --parent out");
  if (size === undefined) throw usage("A new disk needs a size", "Give --size, such as --size 10G");
  const options = formatOptions(format, type);
  await makeWhole(context, path, overwrite ?? false, async (passing) => {
    const words = ["create", "-q", "-f", qemuName(format), ...options, passing, String(size)];
    await tellQemuImg(context, words, path, scope);
  });
  await removeBond(context, path);
}

async function createDifferencing(
  context: QemuContext,
  path: string,
  format: DiskFormat,
  { size_bytes: size, parent, overwrite }: DiskSpec,
  scope: CallScope,
): Promise<void> {
  if (parent === undefined) throw usage("A differencing disk needs a parent", "Give --parent FILE");
  if (format !== "qcow2") {
    throw new HvError("hv.unsupported", `QEMU makes no differencing disk of the format ${format}`, {
      hint: "Name the new disk with .qcow2; its parent may have any format",
      context: { path, format },
    });
  }
  const chain = await readChain(context, parent, scope.signal);
  refuseBroken(chain);
  const [base] = chain.sound;
  if (base === undefined) throw usage(`"${parent}" is no disk`, "Name another parent");
  if (base.path === path) throw usage("A disk cannot be its own parent", "Name another parent");
  await refuseWriters(context, chain.sound.map((layer) => layer.path), "lean on");
  await refuseRunning(context, base.path, "lean on", scope.signal);
  scope.progress({ message: "Reading the parent, so that a change of it is noticed" });
  const fingerprint = await takeFingerprint(context, base.path, scope.signal);
  await makeWhole(context, path, overwrite ?? false, async (passing) => {
    const sizes = size === undefined ? [] : [String(size)];
    const lean = ["-b", base.path, "-F", qemuName(base.header.format)];
    await tellQemuImg(context, ["create", "-q", "-f", "qcow2", ...lean, passing, ...sizes], path, scope);
    // Before the disk has its name: a disk of ours without a bond would pass for one from elsewhere.
    await writeBond(context, { path, parent: fingerprint });
  });
}

function usage(message: string, hint: string): HvError {
  return new HvError("hv.usage", message, { hint });
}
