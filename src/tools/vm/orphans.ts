import * as z from "zod/mini";
import { Orphan } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";

/** Lists what hvlab left behind: found by record, folder and process, never guessed. */
export default defineTool({
  name: "vm_orphans",
  family: "vm",
  class: "R",
  summary: "List what hvlab left behind: expired sandboxes, stray files and processes",
  input: {},
  output: z.object({ orphans: z.array(Orphan) }),
  uses: ["driver"],
  feature: "vms",
  handle: async (_, { driver, signal }) => ({ orphans: await driver.vms.orphans(signal) }),
});
