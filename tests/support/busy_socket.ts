/** What the host says of a socket in whose queue there is no room: its listener stands still. */

import { HvError } from "../../src/base/errors.ts";

export function busySocket(path: string): HvError {
  return new HvError("hv.conflict", `Cannot connect to "${path}": it is busy with others`, {
    hint: "Try again in a moment",
    context: { address: path, reason: "busy", wanted: "idle", found: "busy" },
    retryable: true,
  });
}
