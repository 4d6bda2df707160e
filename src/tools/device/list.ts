import * as z from "zod/mini";
import { Device } from "../../contract/device.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lists a VM's devices: those that its machine has now, and those that come or go with its next start. */
export default defineTool({
  name: "device_list",
  family: "device",
  class: "R",
  summary: "List a VM's devices: disks, drives, cards, ports, TPM, watchdog",
  input: { vm: VmRef },
  positional: ["vm"],
  columns: ["id", "kind", "model", "holds", "holds_at_next_start", "action", "now", "next_start"],
  output: z.object({ devices: z.array(Device) }),
  uses: ["driver", "vm"],
  feature: "devices",
  handle: async (_, { driver, vm, signal }) => ({
    devices: await abilityOf(driver, "devices").list(vm.id, signal),
  }),
});
