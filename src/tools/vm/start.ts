import * as z from "zod/mini";
import { VmRefs } from "../../contract/names.ts";
import { ReadinessLevel, Vm, VmOutcomes } from "../../contract/vm.ts";
import { waitReady } from "../../flows/waiting/wait_ready.ts";
import { defineTool } from "../define_tool.ts";
import { exitCodeOfAll, forOneOrEach, renderAll } from "./each_target.ts";

/** Levels at which its guest has answered, so that it can be told to mount what is shared with it. */
const GUEST_ANSWERS: ReadonlySet<ReadinessLevel> = new Set(["heartbeat", "address", "login"]);

/** Powers VMs on and waits for the readiness that is asked for. */
export default defineTool({
  name: "vm_start",
  family: "vm",
  class: "M",
  summary: "Power VMs on and wait until they are ready",
  input: { vm: VmRefs, until: z._default(ReadinessLevel, "running") },
  positional: ["vm"],
  /** The VM when one was named, `results` when several were. */
  output: z.extend(z.partial(Vm), VmOutcomes),
  uses: ["driver", "targets"],
  feature: "vms",
  timed: true,
  async handle({ until }, context) {
    const { driver, targets, signal } = context;
    return await forOneOrEach(targets, context, async ({ id }, scope) => {
      await driver.vms.start(id, scope);
      await waitReady({ ...context, ...scope }, id, until);
      const vm = await driver.vms.get(id, signal);
      if (vm.shares !== undefined && GUEST_ANSWERS.has(until)) await driver.shares?.mount(vm, signal);
      return vm;
    }, ({ state }) => ({ state }));
  },
  exitCode: exitCodeOfAll,
  render: renderAll,
});
