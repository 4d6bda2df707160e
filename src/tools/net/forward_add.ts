import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Forward, HostAddress, HostPort, Port, readHostPort } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Makes a port of this host lead to a port of a VM's guest, now and at every later start. */
export default defineTool({
  name: "forward_add",
  family: "net",
  class: "M",
  summary: "Make a port of this host lead to a TCP port of a VM's guest",
  input: {
    vm: VmRef,
    guest_port: Port,
    host_port: z._default(HostPort, "auto"),
    host_address: z.optional(HostAddress),
  },
  positional: ["vm", "guest_port"],
  help: {
    guest_port: "TCP port in the guest",
    host_port: "Port of this host, or auto for a free one",
    host_address: "Address of this host, 127.0.0.1 by default; 0.0.0.0 lets other machines in",
  },
  output: Forward,
  uses: ["driver", "vm"],
  feature: "forwards",
  handle: ({ guest_port, host_port, host_address }, context) => {
    const wish = {
      guest_port,
      host_port: readHostPort(host_port),
      ...(host_address === undefined ? {} : { host_address }),
    };
    return abilityOf(context.driver, "forwards").add(context.vm.id, wish, context);
  },
});
