import * as z from "zod/mini";
import { VmName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineLimits } from "../../flows/machines/machine_limits.ts";
import { checkGivenName } from "../given_names.ts";
import { defineTool } from "../define_tool.ts";

/** Makes a VM of a folder that `vm_export` or `checkpoint_export` wrote, or the provider's own export. */
export default defineTool({
  name: "vm_import",
  family: "vm",
  class: "M",
  summary: "Make a new VM of an exported folder, which stays as it is",
  input: { folder: Path, name: z.optional(VmName) },
  positional: ["folder"],
  output: Vm,
  uses: ["driver"],
  feature: "copies",
  timed: true,
  async handle({ folder, name }, context) {
    const { driver, config, door, signal } = context;
    const copies = abilityOf(driver, "copies");
    const facts = await copies.look(folder, signal);
    const given = name ?? facts.name;
    checkGivenName(config, door, given);
    await checkMachineLimits(driver, config.limits, facts, signal);
    return await driver.vms.get(await copies.import(folder, given, context), signal);
  },
});
