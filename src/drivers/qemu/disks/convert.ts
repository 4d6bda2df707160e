/** Writing disks anew: in another format, and without the space that they no longer need. */

import { HvError } from "../../../base/errors.ts";
import type { Disk } from "../../../contract/disk.ts";
import { refuseBroken } from "../../broken_chain.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ConversionWish } from "../../disk_abilities.ts";
import type { QemuContext } from "../context.ts";
import { removeBond } from "./bonds.ts";
import { describeDisk, readChain, readDisk, type SoundLayer } from "./chain.ts";
import { formatOfName, formatOptions } from "./create.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { makeWhole } from "./make_whole.ts";
import { tellQemuImg } from "./disk_program.ts";
import { qemuName } from "./format_names.ts";
import { findDiskFile, placeOfNewDisk } from "./places.ts";
import { refuseStrangers, refuseUnreadable } from "./trust.ts";
import { refuseParent, refuseReplacing, refuseRunning, refuseStored } from "./users.ts";

/** Writes a disk with all that it leans on as one that stands alone. The disk itself stays as it is. */
export async function convertDisk(
  context: QemuContext,
  path: string,
  { target, format: wanted, type, overwrite, follow_parents: follows }: ConversionWish,
  scope: CallScope,
): Promise<Disk> {
  const chain = await readChain(context, path, scope.signal);
  refuseBroken(chain);
  refuseUnreadable(chain);
  await refuseStrangers(context, chain, follows ?? false);
  const place = await placeOfNewDisk(context, target);
  if (chain.sound.some((layer) => layer.path === place)) {
    throw new HvError("hv.usage", `"${target}" is part of the disk that would be read`, {
      hint: "Name another target",
      context: { path, target },
    });
  }
  const format = wanted ?? formatOfName(place);
  const options = formatOptions(format, type);
  await using _lock = await takeDiskLock(context, place);
  if (overwrite) await refuseReplacing(context, place, scope.signal);
  await makeWhole(context, place, overwrite ?? false, (passing) => {
    const words = ["convert", "-p", "-f", formatOf(chain.sound), "-O", qemuName(format), ...options];
    return tellQemuImg(context, [...words, chain.path, passing], chain.path, scope, {
      shows: "Converting",
      written: place,
    });
  });
  await removeBond(context, place);
  return await describeDisk(context, await readDisk(context, place));
}

/** Writes a disk anew without what its guest has given back. A differencing disk stays one. */
export async function compactDisk(context: QemuContext, path: string, scope: CallScope): Promise<Disk> {
  const real = await findDiskFile(context, path);
  await using _lock = await takeDiskLock(context, real);
  const chain = await readChain(context, path, scope.signal);
  refuseBroken(chain);
  refuseUnreadable(chain);
  await refuseStrangers(context, chain, false);
  const [disk, parent] = chain.sound;
  if (disk === undefined) throw new HvError("hv.internal", `The chain of "${path}" has no layer`);
  refuseFrozen(disk);
  refuseStored(context, real, "compact");
  await refuseRunning(context, real, "compact", scope.signal);
  await refuseParent(context, real, "compact", scope.signal);
  const { format } = disk.header;
  const lean = parent === undefined ? [] : ["-B", parent.path, "-F", qemuName(parent.header.format)];
  const options = parent === undefined ? formatOptions(format, "dynamic") : [];
  await makeWhole(context, real, true, (passing) => {
    const words = ["convert", "-p", "-f", qemuName(format), "-O", qemuName(format), ...options, ...lean];
    return tellQemuImg(context, [...words, real, passing], real, scope, { shows: "Compacting" });
  });
  return await describeDisk(context, await readDisk(context, real));
}

function refuseFrozen({ path, header: { snapshots, type, format } }: SoundLayer): void {
  if (snapshots !== undefined) {
    throw new HvError(
      "hv.unsupported",
      `Cannot compact "${path}": its ${snapshots} snapshots would be lost`,
      {
        hint: "Delete the VM's checkpoints first, or convert the disk into a new one",
        context: { path, snapshots },
      },
    );
  }
  if (type !== "fixed" || format === "raw" || format === "qcow2") return;
  throw new HvError("hv.unsupported", `Cannot compact "${path}": a fixed ${format} keeps all of its space`, {
    hint: "Convert it into a dynamic one",
    context: { path, format, type },
  });
}

function formatOf([first]: readonly SoundLayer[]): string {
  return qemuName(first?.header.format ?? "raw");
}
