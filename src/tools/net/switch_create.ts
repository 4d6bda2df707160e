import { HvError } from "../../base/errors.ts";
import { VmName } from "../../contract/names.ts";
import { DEFAULT_SWITCH, Switch, SwitchType } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findSwitch } from "../../flows/find_switch.ts";
import { defineTool } from "../tool.ts";

/** Makes a switch that no physical network is on. */
export default defineTool({
  name: "switch_create",
  family: "net",
  class: "M",
  summary: "Create a virtual switch that VMs, but no physical network, are on",
  input: { name: VmName, type: SwitchType },
  positional: ["name"],
  help: {
    name: "Name of the new switch",
    type: "internal: the host may be on it; private: VMs alone; external is always refused",
  },
  output: Switch,
  uses: ["driver"],
  feature: "switches",
  async handle({ name, type }, context) {
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
    const id = await abilityOf(driver, "switches").create({ name, type }, context);
    return await findSwitch(driver, id, signal);
  },
});
