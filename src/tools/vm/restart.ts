import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { ReadinessLevel, Vm } from "../../contract/vm.ts";
import { bootBefore, waitReady } from "../../flows/waiting/wait_ready.ts";
import { defineTool } from "../define_tool.ts";

/** Stops a VM in the way that is asked for, which never escalates, and boots it again. One that is off boots. */
export default defineTool({
  name: "vm_restart",
  family: "vm",
  class: "M",
  summary: "Stop a VM and boot it again; shutdown never escalates, off cuts the power",
  input: {
    vm: VmRef,
    mode: z._default(z.enum(["shutdown", "button", "off"]), "shutdown"),
    until: z._default(ReadinessLevel, "running"),
  },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "vms",
  timed: true,
  async handle({ mode, until }, context) {
    const { driver, vm, signal } = context;
    if (vm.adopted) {
      throw new HvError(
        "hv.unsupported",
        `"${vm.name}" was adopted, so hvlab could stop it but not start it`,
        {
          hint: "Restart it with the program that made it, or from inside its guest",
          context: { vm: vm.id },
        },
      );
    }
    const notBoot = await bootBefore(context, vm, until);
    await driver.vms.stop(vm.id, mode, context);
    await driver.vms.start(vm.id, context);
    await waitReady(context, vm.id, until, { notBoot });
    return await driver.vms.get(vm.id, signal);
  },
});
