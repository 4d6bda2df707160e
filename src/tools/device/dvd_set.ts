import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Device } from "../../contract/device.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findDevice } from "../../flows/finding/find_device.ts";
import { defineTool } from "../define_tool.ts";

/** Puts a disc into a VM's drive or takes it out, while the VM runs too. */
export default defineTool({
  name: "dvd_set",
  family: "device",
  class: "M",
  summary: "Put a disc into a VM's DVD drive, or take it out",
  input: {
    vm: VmRef,
    disc: z.optional(Path),
    eject: z._default(z.boolean(), false),
    force: z._default(z.boolean(), false),
  },
  positional: ["vm", "disc"],
  help: {
    disc: "Disc to put in, an ISO file of the host",
    eject: "Take the disc out",
    force: "Even when the guest holds the disc",
  },
  output: Device,
  uses: ["driver", "vm"],
  feature: "devices",
  async handle({ disc, eject, force }, context) {
    const { driver, vm, signal } = context;
    if (eject === (disc !== undefined)) {
      throw new HvError("hv.usage", "A drive gets a disc or is emptied", {
        hint: "Name a disc, or give --eject",
        context: { vm: vm.id, eject },
      });
    }
    const devices = abilityOf(driver, "devices");
    await devices.setDvd(vm.id, disc ?? null, { force }, context);
    return findDevice(vm, await devices.list(vm.id, signal), "dvd");
  },
});
