/** The failure of a file that is not the disk it should be. */

import { HvError } from "../../../base/errors.ts";

/** Says what was found at which offset, and what was expected there. */
export function badDisk(
  path: string,
  reason: string,
  found: string,
  { offset = 0, expected, hint = "Give another file, or make it anew" }: {
    offset?: number;
    expected: string;
    hint?: string;
  },
): HvError {
  return new HvError("hv.bad_image", `Cannot use "${path}" as a disk: ${found}`, {
    hint,
    context: { path, reason, offset, expected },
  });
}
