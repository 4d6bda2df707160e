import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Forward } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lists the ports of this host that lead into a VM's guest, each with whether it does right now. */
export default defineTool({
  name: "forward_list",
  family: "net",
  class: "R",
  summary: "List the ports of this host that lead into a VM's guest",
  input: { vm: VmRef },
  positional: ["vm"],
  columns: ["host_address", "host_port", "guest_port", "open", "lasting", "auto"],
  output: z.object({ forwards: z.array(Forward) }),
  uses: ["driver", "vm"],
  feature: "forwards",
  handle: async (_, { driver, vm, signal }) => ({
    forwards: await abilityOf(driver, "forwards").list(vm.id, signal),
  }),
});
