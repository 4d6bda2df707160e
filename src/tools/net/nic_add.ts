import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { MacAddress, Nic, SwitchRef, VlanId } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findNic, findSwitch } from "../../flows/finding/find_switch.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a VM a network card, now where its machine can take it, else at its next start. */
export default defineTool({
  name: "nic_add",
  family: "net",
  class: "M",
  summary: "Give a VM a network card on a switch, now or at its next start",
  input: {
    vm: VmRef,
    switch: z._default(SwitchRef, "default"),
    mac: z.optional(MacAddress),
    vlan: z.optional(VlanId),
  },
  positional: ["vm"],
  help: {
    switch: "Name or id of the switch; default leads to the host's network",
    mac: "MAC address; a free one when left out",
    vlan: "VLAN id of its packets, 0 for none (Hyper-V only)",
  },
  output: Nic,
  uses: ["driver", "vm"],
  feature: "nics",
  async handle({ switch: reference, mac, vlan }, context) {
    const { driver, vm, signal } = context;
    const { id } = await findSwitch(driver, reference, signal);
    const nic = await abilityOf(driver, "nics").add(vm.id, {
      switch: id,
      ...(mac === undefined ? {} : { mac }),
      ...(vlan === undefined ? {} : { vlan }),
    }, context);
    return await findNic(driver, vm, nic, { signal });
  },
});
