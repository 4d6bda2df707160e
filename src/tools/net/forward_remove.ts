import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Forward, Port } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Removes the forwards to a port of a VM's guest. Connections that go through them live on. */
export default defineTool({
  name: "forward_remove",
  family: "net",
  class: "M",
  summary: "Remove the forwards to a TCP port of a VM's guest",
  input: { vm: VmRef, guest_port: Port, host_port: z.optional(Port) },
  positional: ["vm", "guest_port"],
  help: { guest_port: "TCP port in the guest", host_port: "Only the forward from this port of the host" },
  output: z.object({ removed: z.array(Forward) }),
  uses: ["driver", "vm"],
  feature: "forwards",
  handle: async ({ guest_port, host_port }, context) => {
    const which = { guest_port, ...(host_port === undefined ? {} : { host_port }) };
    return { removed: await abilityOf(context.driver, "forwards").remove(context.vm.id, which, context) };
  },
});
