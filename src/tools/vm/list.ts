import * as z from "zod/mini";
import { Vm } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";

/** Lists all VMs, sandboxes included, each with its state as observed now. */
export default defineTool({
  name: "vm_list",
  family: "vm",
  class: "R",
  summary: "List all VMs and sandboxes with their observed state",
  input: {},
  output: z.object({ vms: z.array(Vm) }),
  columns: [
    "name",
    "state",
    "state_reason",
    "sandbox",
    "managed",
    "image",
    "memory_mb",
    "cpus",
    "driver",
    "acceleration",
    "expires_at",
    "id",
  ],
  uses: ["driver"],
  feature: "vms",
  async handle(_, { driver, signal, warn }) {
    const { vms, warnings } = await driver.vms.list(signal);
    warnings.forEach(warn);
    return { vms };
  },
});
