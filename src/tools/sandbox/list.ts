import * as z from "zod/mini";
import { Vm } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";

/** Lists sandboxes with the end of their leases. */
export default defineTool({
  name: "sandbox_list",
  family: "sandbox",
  class: "R",
  summary: "List sandboxes and when their leases end",
  input: {},
  output: z.object({ sandboxes: z.array(Vm) }),
  uses: ["driver"],
  feature: "sandboxes",
  async handle(_, { driver, signal, warn }) {
    const { vms, warnings } = await driver.vms.list(signal);
    warnings.forEach(warn);
    return { sandboxes: vms.filter((vm) => vm.sandbox) };
  },
});
