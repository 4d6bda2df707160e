import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { Nic, NicRef, SwitchRef, VlanId } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findNic, findSwitch } from "../../flows/finding/find_switch.ts";
import { defineTool } from "../define_tool.ts";

/** Plugs a VM's network card into another switch or into none, or changes its VLAN. */
export default defineTool({
  name: "nic_set",
  family: "net",
  class: "M",
  summary: "Plug a VM's network card into another switch or none, or change its VLAN",
  input: {
    vm: VmRef,
    nic: NicRef,
    switch: z.optional(SwitchRef),
    disconnect: z._default(z.boolean(), false),
    vlan: z.optional(VlanId),
  },
  positional: ["vm", "nic"],
  help: {
    nic: "Id or name of the card; see hvlab nic list",
    switch: "Name or id of the switch",
    disconnect: "Plug it into no switch",
    vlan: "VLAN id of its packets, 0 for none (Hyper-V only)",
  },
  output: Nic,
  uses: ["driver", "vm"],
  feature: "nics",
  async handle({ nic, switch: reference, disconnect, vlan }, context) {
    const { driver, vm, signal } = context;
    if (disconnect === (reference !== undefined) && (disconnect || vlan === undefined)) {
      throw new HvError(
        "hv.usage",
        `There is nothing to change about "${nic}", or two things that exclude each other`,
        {
          hint: "Give one of --switch and --disconnect, or --vlan",
          context: { vm: vm.id, nic },
        },
      );
    }
    const { id } = await findNic(driver, vm, nic, { signal });
    const target = reference === undefined ? undefined : (await findSwitch(driver, reference, signal)).id;
    await abilityOf(driver, "nics").set(vm.id, id, {
      ...(disconnect ? { switch: null } : target === undefined ? {} : { switch: target }),
      ...(vlan === undefined ? {} : { vlan }),
    }, context);
    return await findNic(driver, vm, id, { signal });
  },
});
