import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Opens a debugger's way into a running machine, or closes it. */
export default defineTool({
  name: "vm_debug",
  family: "vm",
  class: "X",
  summary: "Open or close a GDB stub on a running VM, on a local socket",
  input: { vm: VmRef, close: z._default(z.boolean(), false) },
  positional: ["vm"],
  help: { close: "Closes the stub; a debugger that is there loses its link" },
  output: z.object({
    vm: Vm,
    open: z.boolean(),
    /** The socket on which the GDB remote protocol is spoken. */
    socket: z.optional(z.string()),
  }),
  uses: ["driver", "vm"],
  feature: "debug_stub",
  plan: ({ close }, { vm: { id, name, state, pid } }) =>
    Promise.resolve({
      summary: close
        ? `Close the debugger's stub of "${name}"`
        : `Open a stub through which a debugger controls all of "${name}"`,
      losses: [],
      fingerprint: { id, state, pid: pid ?? null },
    }),
  async handle({ close }, context) {
    const { driver, vm, signal } = context;
    const stub = abilityOf(driver, "debug_stub");
    const opened = close ? undefined : await stub.open(vm.id, context);
    if (close) await stub.close(vm.id, context);
    return { vm: await driver.vms.get(vm.id, signal), open: opened !== undefined, ...opened };
  },
  render: ({ vm, open, socket }) =>
    open
      ? `Attach with: gdb -ex "target remote ${socket}" (the VM stands still while a debugger is there)`
      : `The stub is closed; "${vm.name}" is ${vm.state}`,
});
