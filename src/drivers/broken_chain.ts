/** The failure of a chain of disks that is not whole. */

import { HvError } from "../base/errors.ts";
import { copyThroughJson } from "../base/json.ts";
import type { Chain } from "./disk_abilities.ts";

/** Throws `hv.bad_image` for a broken chain; `context.layers` holds what there is of it. */
export function refuseBroken({ path, broken, layers }: Chain): void {
  if (broken === undefined) return;
  const at = layers[broken.layer]?.path ?? path;
  throw new HvError("hv.bad_image", `The chain of "${path}" is broken at "${at}": ${broken.problem}`, {
    hint: "See its layers with: hvlab disk chain PATH",
    context: {
      path,
      reason: broken.fault,
      layer: broken.layer,
      layers: copyThroughJson({ layers })?.layers ?? [],
    },
  });
}
