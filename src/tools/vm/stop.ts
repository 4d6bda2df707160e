import * as z from "zod/mini";
import { VmRefs } from "../../contract/names.ts";
import { StopMode, Vm, VmOutcomes } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";
import { exitCodeOfAll, forOneOrEach, renderAll } from "./each_target.ts";

/** Brings VMs to rest in the way that is asked for; never escalates by itself. */
export default defineTool({
  name: "vm_stop",
  family: "vm",
  class: "M",
  summary: "Stop VMs; shutdown never escalates, off cuts the power",
  input: { vm: VmRefs, mode: z._default(StopMode, "shutdown") },
  positional: ["vm"],
  /** The VM when one was named, `results` when several were. */
  output: z.extend(z.partial(Vm), VmOutcomes),
  uses: ["driver", "targets"],
  feature: "vms",
  timed: true,
  frees: true,
  async handle({ mode }, context) {
    const { driver, targets, signal } = context;
    return await forOneOrEach(targets, context, async ({ id }, scope) => {
      await driver.vms.stop(id, mode, scope);
      return await driver.vms.get(id, signal);
    }, ({ state }) => ({ state }));
  },
  exitCode: exitCodeOfAll,
  render: renderAll,
});
