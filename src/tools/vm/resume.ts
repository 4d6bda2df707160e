import * as z from "zod/mini";
import { GuestClock } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lets a VM go on that is paused, that stands still because a disk was full, or that is saved. */
export default defineTool({
  name: "vm_resume",
  family: "vm",
  class: "M",
  summary: "Let a paused or saved VM go on",
  input: { vm: VmRef },
  positional: ["vm"],
  /** The VM, and how far its guest's clock was off where that could be told. */
  output: z.extend(Vm, { guest_clock: z.optional(GuestClock) }),
  uses: ["driver", "vm"],
  feature: "pause",
  timed: true,
  async handle(_, context) {
    const { driver, vm, signal } = context;
    let guest_clock: GuestClock | undefined;
    await abilityOf(driver, "pause").resume(vm.id, {
      ...context,
      guestClock: (clock) => guest_clock ??= clock,
    });
    return { ...await driver.vms.get(vm.id, signal), ...(guest_clock === undefined ? {} : { guest_clock }) };
  },
});
