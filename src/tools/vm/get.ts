import { toHvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import type { VmSettings } from "../../contract/vm_settings.ts";
import type { Driver } from "../../drivers/driver.ts";
import { defineTool } from "../define_tool.ts";

/** Shows one VM as observed now. */
export default defineTool({
  name: "vm_get",
  family: "vm",
  class: "R",
  summary: "Show one VM with its observed state",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "vms",
  async handle(_, { driver, vm, signal, warn }) {
    for (const warning of await checkpointWarnings(driver, vm.id, signal)) warn(warning);
    const settings = await settingsOf(driver, vm.id, { signal, warn });
    return { ...await driver.vms.get(vm.id, signal), ...(settings === undefined ? {} : { settings }) };
  },
});

/** Its settings where the provider keeps any; that they cannot be looked at never hides the VM. */
async function settingsOf(
  driver: Driver,
  id: string,
  { signal, warn }: { signal: AbortSignal; warn: (text: string) => void },
): Promise<VmSettings | undefined> {
  try {
    return await driver.settings?.read(id, signal);
  } catch (error) {
    signal.throwIfAborted();
    warn(`Cannot look at its settings: ${toHvError(error).message}`);
    return undefined;
  }
}

/** What is not in order with its checkpoints; that they cannot be looked at never hides the VM. */
async function checkpointWarnings(driver: Driver, id: string, signal: AbortSignal): Promise<string[]> {
  try {
    return (await driver.checkpoints?.list(id, signal))?.warnings ?? [];
  } catch (error) {
    signal.throwIfAborted();
    return [`Cannot look at its checkpoints: ${toHvError(error).message}`];
  }
}
