import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { type Switch, SwitchRef } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findSwitch } from "../../flows/finding/find_switch.ts";
import { defineTool } from "../define_tool.ts";

/** Removes a switch that hvlab made and no network card is on. */
export default defineTool({
  name: "switch_delete",
  family: "net",
  class: "D",
  summary: "Delete a virtual switch that hvlab made and no VM is on",
  input: { name: SwitchRef },
  positional: ["name"],
  help: { name: "Name or id of the switch" },
  output: z.object({ id: z.string(), name: z.string(), removed: z.boolean() }),
  uses: ["driver"],
  feature: "switches",
  async plan({ name }, { driver, signal }) {
    const found = await findSwitch(driver, name, signal);
    refuseOthers(found);
    return {
      summary: `Delete the ${found.type} switch "${found.name}"`,
      losses: [{ what: `the switch "${found.name}"` }],
      fingerprint: { id: found.id, name: found.name, vms: found.vms },
    };
  },
  async handle({ name }, context) {
    const { driver, signal } = context;
    const found = await findSwitch(driver, name, signal);
    refuseOthers(found);
    const switches = abilityOf(driver, "switches");
    await switches.remove(found.id, context);
    const left = await switches.list(signal);
    return { id: found.id, name: found.name, removed: left.every(({ id }) => id !== found.id) };
  },
});

function refuseOthers({ id, name, managed, builtin }: Switch): void {
  if (managed) return;
  const why = builtin ? "it is built in" : "hvlab did not make it";
  throw new HvError("hv.policy_denied", `Refused to delete the switch "${name}": ${why}`, {
    hint: "Only switches from `hvlab switch create` are deleted",
    context: { switch: name, id },
  });
}
