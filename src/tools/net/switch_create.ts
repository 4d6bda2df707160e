import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { VmName } from "../../contract/names.ts";
import { DEFAULT_SWITCH, NatPrefix, Switch, SwitchType } from "../../contract/network.ts";
import type { Driver } from "../../drivers/driver.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findSwitch } from "../../flows/finding/find_switch.ts";
import { needFeature } from "../../flows/machines/machine_wish.ts";
import { defineTool } from "../define_tool.ts";

/** Makes a switch that no physical network is on. */
export default defineTool({
  name: "switch_create",
  family: "net",
  class: "M",
  summary: "Create a virtual switch that VMs, but no physical network, are on",
  input: { name: VmName, type: SwitchType, nat: z.optional(NatPrefix) },
  positional: ["name"],
  help: {
    name: "Name of the new switch",
    type: "internal: the host may be on it; private: VMs alone; external is always refused",
    nat: "Network that leads out through the host, such as 192.168.77.0/24 (Hyper-V only)",
  },
  output: Switch,
  uses: ["driver"],
  feature: "switches",
  async handle({ name, type, nat }, context) {
    const { driver, signal } = context;
    if (type === "external") {
      throw new HvError("hv.policy_denied", `Refused to make the switch "${name}" external`, {
        hint: "hvlab never touches a network adapter of the host; take --type internal or private",
        context: { switch: name, type },
      });
    }
    if (name === DEFAULT_SWITCH) {
      throw new HvError("hv.conflict", `"${name}" is the name of the switch that is always there`, {
        hint: "Choose another name",
        context: { switch: name, wanted: "free", found: "taken" },
      });
    }
    if (nat !== undefined) refuseNat(driver, type);
    const wish = { name, type, ...(nat === undefined ? {} : { nat }) };
    const id = await abilityOf(driver, "switches").create(wish, context);
    return await findSwitch(driver, id, signal);
  },
});

function refuseNat(driver: Driver, type: SwitchType): void {
  if (type !== "internal") {
    throw new HvError("hv.usage", "A network behind the host needs the host on its switch", {
      hint: "Take --type internal, or leave --nat out",
      context: { type, wanted: "internal" },
    });
  }
  needFeature(driver, "switches.nat", `the switch ${DEFAULT_SWITCH}`);
}
