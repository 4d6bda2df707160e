import * as z from "zod/mini";
import { Switch } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lists what network cards can be plugged into. */
export default defineTool({
  name: "switch_list",
  family: "net",
  class: "R",
  summary: "List the virtual switches, with the VMs on each",
  input: {},
  columns: ["name", "type", "builtin", "managed", "host", "vms", "id"],
  output: z.object({ switches: z.array(Switch) }),
  uses: ["driver"],
  feature: "switches",
  handle: async (_, { driver, signal }) => ({ switches: await abilityOf(driver, "switches").list(signal) }),
});
