import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Device } from "../../contract/device.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findDevice } from "../../flows/finding/find_device.ts";
import { needFeature } from "../../flows/machines/machine_wish.ts";
import { defineTool } from "../define_tool.ts";

/** Leads a VM's serial port to a socket or a pipe of this host. */
export default defineTool({
  name: "serial_set",
  family: "device",
  class: "M",
  summary: "Lead a VM's serial port to a socket or a named pipe of this host",
  input: {
    vm: VmRef,
    port: z.int().check(z.minimum(1), z.maximum(2)),
    path: z.optional(Path),
    detach: z._default(z.boolean(), false),
    debugger: z.optional(z.boolean()),
  },
  positional: ["vm", "port"],
  help: {
    port: "1 or 2; on QEMU 1 is the line that serial read shows",
    path: "Unix socket to make, or a pipe such as \\\\.\\pipe\\web on Windows",
    detach: "Lead it nowhere",
    debugger: "Let the guest's kernel debugger use it (Hyper-V only)",
  },
  output: Device,
  uses: ["driver", "vm"],
  feature: "serial_ports",
  writes: "path",
  async handle({ port, path, detach, debugger: debug }, context) {
    const { driver, vm, signal } = context;
    if (detach ? path !== undefined : path === undefined && debug === undefined) {
      throw new HvError("hv.usage", `There is nothing to change about serial port ${port}, or too much`, {
        hint: "Give one of --path and --detach, or --debugger",
        context: { vm: vm.id, port },
      });
    }
    if (debug !== undefined) needFeature(driver, "serial_ports.debugger", "--path");
    await abilityOf(driver, "serial_ports").set(vm.id, port, {
      ...(detach ? { path: null } : path === undefined ? {} : { path }),
      ...(debug === undefined ? {} : { debugger: debug }),
    }, context);
    return findDevice(vm, await abilityOf(driver, "devices").list(vm.id, signal), "serial", port - 1);
  },
});
