/** What a VM's start has to know of disks: that its image's is still the one it leans on, and what is attached. */

import { HvError } from "../../../base/errors.ts";
import type { Image } from "../../../contract/image.ts";
import { quoteWord } from "../../../host/quote_word.ts";
import type { VmSpec } from "../../driver.ts";
import type { AttachedDrive } from "../launch/machine_plan.ts";
import type { QemuContext } from "../context.ts";
import type { BaseDisk } from "../overlay.ts";
import type { VmRecord } from "../records.ts";
import { readUsable } from "./attach.ts";
import { blockNode } from "./block_node.ts";
import { changeSince, type Fingerprint } from "./bonds.ts";

/** What a new VM's own disk will lean on; `undefined` for one that leans on nothing, or on a template's. */
export async function baseOf(
  { host }: QemuContext,
  { full_copy: isFullCopy }: Pick<VmSpec, "full_copy">,
  image: Image | undefined,
  template: BaseDisk | undefined,
): Promise<Fingerprint | undefined> {
  const disk = image?.kind === "disk" ? image.files.find(({ role }) => role === "disk") : undefined;
  if (disk === undefined || isFullCopy || template !== undefined) return undefined;
  const facts = await host.files.stat(disk.path, { follow: true });
  const { path, size_bytes, sha256 } = disk;
  return { path, size_bytes, modified: facts?.modified ?? null, sha256 };
}

/**
 * Makes sure that the disk below a VM's own is what it was: a guest on another one finds its file systems in ruins.
 * Answers the record with the time at which that was seen. Throws `hv.bad_image`.
 */
export async function proveBase(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<VmRecord> {
  const { base, id, name } = record;
  if (base === undefined) return record;
  const change = await changeSince(context, base, signal);
  if (change !== undefined) {
    throw new HvError(
      "hv.bad_image",
      `"${name}" leans on "${base.path}", which is not what it was: ${change}`,
      {
        hint: "Bring the file back as it was; to use another one, import it under a new name",
        context: { vm: id, path: base.path, reason: "base_changed", found: change },
      },
    );
  }
  const facts = await context.host.files.stat(base.path, { follow: true });
  const modified = facts?.modified ?? null;
  return modified === base.modified ? record : { ...record, base: { ...base, modified } };
}

/** The attached disks that a machine starts with. Throws `hv.io` when one is missing, and what else is wrong with it. */
export async function drivesOf(
  context: QemuContext,
  { id, name, disks = [] }: VmRecord,
  signal: AbortSignal,
): Promise<AttachedDrive[]> {
  const drives: AttachedDrive[] = [];
  for (const { key, path, read_only: readOnly, follow_parents: follows } of disks) {
    if (await context.host.files.stat(path) === undefined) {
      throw new HvError("hv.io", `The disk "${path}" of "${name}" is missing`, {
        hint: `Bring it back, or detach it: hvlab disk detach ${id} ${quoteWord(path)}`,
        context: { vm: id, path, reason: "missing" },
      });
    }
    const { sound } = await readUsable(context, path, follows ?? false, signal);
    drives.push({ key, node: blockNode(key, sound, readOnly ?? false) });
  }
  return drives;
}
