/** The simulated host: a PowerShell module of the repository's tests that stands in for Hyper-V's own. */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath } from "../../../base/paths.ts";
import type { Host } from "../../../host/host.ts";

/** The variable that points the driver at a simulated host; its world lies in the folder that it names. */
export const SIMULATION_VARIABLE = "HVLAB_HYPERV_SIM";
const MODULES_VARIABLE = "HVLAB_HYPERV_SIM_MODULES";
const MODULES = ["tests", "hyperv_sim", "modules"] as const;

/** The folder of the simulated host's world; `undefined` for a real host. */
export function simulatedWorld({ environment }: Host): string | undefined {
  return environment.get(SIMULATION_VARIABLE);
}

/** Finds the simulated modules: named by a variable, else in the repository that this program is part of. */
export async function findSimulatedModules({ environment, files }: Host): Promise<string> {
  const named = environment.get(MODULES_VARIABLE);
  if (named !== undefined) return named;
  for (let folder = import.meta.dirname; folder !== undefined;) {
    const modules = joinPath(folder, ...MODULES);
    if (await files.stat(joinPath(modules, "Hyper-V", "Hyper-V.psd1")) !== undefined) return modules;
    const parent = folderOf(folder);
    folder = parent === folder ? undefined : parent;
  }
  throw new HvError("hv.unavailable", "The simulated Hyper-V module is not there", {
    hint: `Run hvlab from its repository, or name the folder ${MODULES.join("/")} with ${MODULES_VARIABLE}`,
    retryable: false,
  });
}
