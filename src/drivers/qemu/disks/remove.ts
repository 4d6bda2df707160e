/** Removing disks. */

import { HvError } from "../../../base/errors.ts";
import { quoteWord } from "../../../host/quote_word.ts";
import type { Loss } from "../../../contract/plan.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { imageFolders } from "../images/images.ts";
import { removeBond, sweepBonds } from "./bonds.ts";
import { takeDiskLock } from "../../disk_lock.ts";
import { readDisk } from "./chain.ts";
import { isInside } from "./places.ts";
import { describeUsers, findHolders, findVms, ownerOf, refuseParent } from "./users.ts";

/**
 * What removing a disk loses. Throws `hv.conflict` when somebody needs it, `hv.io` when a damaged record hides who does,
 * and `hv.bad_image` when it is no disk.
 */
export async function lossesOfDisk(
  context: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<{ path: string; losses: Loss[] }> {
  const { path: real } = await readDisk(context, path);
  await refuseNeeded(context, real, signal);
  const facts = await context.host.files.stat(real);
  const size = facts?.allocated_bytes ?? facts?.size_bytes ?? 0;
  return { path: real, losses: [{ what: "disk", path: real, size_bytes: size }] };
}

/** Removes a disk's file and what is recorded of it. */
export async function removeDisk(
  context: QemuContext,
  path: string,
  { signal }: CallScope,
): Promise<{ path: string; removed: boolean }> {
  const { path: real } = await readDisk(context, path);
  await using _lock = await takeDiskLock(context, real);
  await refuseNeeded(context, real, signal);
  await context.host.files.remove(real);
  await removeBond(context, real);
  await sweepBonds(context);
  return { path: real, removed: await context.host.files.stat(real) === undefined };
}

async function refuseNeeded(context: QemuContext, path: string, signal: AbortSignal): Promise<void> {
  const refuse = (why: string, hint: string): never => {
    throw new HvError("hv.conflict", `Cannot remove "${path}": ${why}`, {
      hint,
      context: { path, wanted: "not in use", found: "in use" },
    });
  };
  const owner = ownerOf(context, path);
  if (owner !== undefined) refuse(`it belongs to ${owner}`, `Remove the VM: hvlab vm delete ${owner}`);
  if (imageFolders(context).some((folder) => isInside(folder, path))) {
    refuse("it belongs to an image", "Remove the image: hvlab image delete NAME");
  }
  if (isInside(context.state.templates, path)) {
    refuse("it belongs to a template", "Remove the template: hvlab image drop NAME");
  }
  const [user] = await findVms(context, path, signal);
  if (user !== undefined) {
    const { name } = user.record;
    refuse(
      `the VM "${name}" has it`,
      `Detach it first: hvlab disk detach ${user.record.id} ${quoteWord(path)}`,
    );
  }
  await refuseParent(context, path, "remove", signal);
  const holders = await findHolders(context, path);
  if (holders.length > 0) refuse(`${describeUsers(holders)} has it open`, "End that program first");
}
