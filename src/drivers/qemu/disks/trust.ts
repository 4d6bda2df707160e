/** Which parents of a disk are followed unasked: a guest can write any name into a disk, and would then read that file. */

import { HvError } from "../../../base/errors.ts";
import type { QemuContext } from "../context.ts";
import { imageFolders } from "../images/images.ts";
import { readBond } from "./bonds.ts";
import type { ReadChain, SoundLayer } from "./chain.ts";
import { isInside } from "./places.ts";

/**
 * Throws `hv.policy_denied` when a disk leans on one that neither hvlab has put below it nor the caller asked to follow.
 * Images of hvlab and templates are nobody's secret.
 */
export async function refuseStrangers(
  context: QemuContext,
  { path, sound }: ReadChain,
  follows: boolean,
): Promise<void> {
  if (follows) return;
  for (const [depth, layer] of sound.entries()) {
    const parent = sound[depth + 1];
    if (parent === undefined) return;
    if (isOurs(context, parent)) continue;
    if ((await readBond(context, layer.path))?.parent.path === parent.path) continue;
    throw new HvError(
      "hv.policy_denied",
      `"${path}" leans on "${parent.path}", which hvlab did not put there`,
      {
        hint: "Look at it with hvlab disk chain, and give --follow-parents when that is what you want",
        context: { path, parent: parent.path, reason: "unrecorded_parent" },
      },
    );
  }
}

/** Throws `hv.unsupported` for a chain that QEMU cannot read: it knows no parents of VHD and VHDX. */
export function refuseUnreadable({ path, sound }: ReadChain): void {
  for (const { header } of sound) {
    if (header.encrypted) {
      throw new HvError("hv.unsupported", `"${path}" is encrypted, and hvlab keeps no keys for disks`, {
        hint: "Decrypt it first",
        context: { path, reason: "encrypted" },
      });
    }
    if (header.type !== "differencing" || (header.format !== "vhd" && header.format !== "vhdx")) continue;
    throw new HvError("hv.unsupported", `QEMU reads no differencing disk of the format ${header.format}`, {
      hint: "Merge it on a Windows host first: hvlab disk merge",
      context: { path, format: header.format },
    });
  }
}

function isOurs(context: QemuContext, { path }: SoundLayer): boolean {
  return [...imageFolders(context), context.state.templates].some((folder) => isInside(folder, path));
}
