/** One word to the QEMU of a VM that runs. */

import { HvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { askMonitor } from "./monitors.ts";

/** What names a machine. */
export type Machine = Pick<VmRecord, "id" | "name" | "runtime">;

/** Halts the machine's processors, or lets them go on. Throws `hv.unavailable` when its QEMU has ended. */
export async function tellMachine(
  host: Host,
  machine: Machine,
  command: "stop" | "cont",
  signal: AbortSignal,
): Promise<void> {
  const heard = await askMonitor(host, machine.id, new RuntimeFolder(machine.runtime), async (session) => {
    await session.command(command, undefined, { signal });
    return {};
  }, { signal });
  if (heard === undefined) throw machineEnded(machine);
}

/** The failure of who finds nobody behind a machine's monitor. */
export function machineEnded({ id, name }: Machine): HvError {
  return new HvError("hv.unavailable", `The QEMU of "${name}" has ended meanwhile`, {
    hint: `Start it again: hvlab vm start ${id}`,
    context: { vm: id },
  });
}
