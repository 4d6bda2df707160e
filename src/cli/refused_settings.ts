/** Failures of what the global flags name. A file of its own, since no command that works needs them. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import { DRIVER_NAMES } from "../drivers/index.ts";

/** The failure of a driver that there is none of. */
export function unknownDriver(name: string): HvError {
  const near = suggest(name, DRIVER_NAMES);
  return new HvError("hv.usage", `There is no driver "${name}"`, {
    hint: near === undefined ? `Drivers are ${DRIVER_NAMES.join(", ")}` : `Did you mean "${near}"?`,
    context: { driver: name, known: [...DRIVER_NAMES] },
  });
}

/** The failure of a state folder that is something else. */
export function noStateFolder(path: string, found: string): HvError {
  return new HvError("hv.usage", `The state folder "${path}" is no folder`, {
    hint: "Name a folder with --state or HVLAB_STATE",
    context: { path, found },
  });
}
