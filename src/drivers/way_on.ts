/** What brings a VM on from where it stands, as a line to paste: for the hints of failures. */

import type { VmState } from "../contract/vm.ts";

/** How to have the guest of a VM back that has crashed. It hears no request, so only cutting the power ends it. */
export function wayAfterCrash({ id, adopted }: { id: string; adopted?: boolean | undefined }): string {
  return adopted === true
    ? "Restart it with the program that made it"
    : `Restart the VM with \`hvlab vm restart ${id} --mode off\``;
}

/** How to have a VM run that does not; `undefined` for a state that it leaves without being asked. */
export function wayToRun(
  { id, state, adopted }: { id: string; state: VmState; adopted?: boolean | undefined },
): string | undefined {
  switch (state) {
    case "off":
    case "saved":
      return `Start it with \`hvlab vm start ${id}\``;
    case "paused":
    case "io_error":
      return `Let it go on with \`hvlab vm resume ${id}\``;
    case "crashed":
      return wayAfterCrash({ id, adopted });
    default:
      return undefined;
  }
}
