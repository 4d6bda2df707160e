import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { ReadinessLevel, Vm } from "../../contract/vm.ts";
import { waitUntil } from "../../flows/wait_until.ts";
import { waitAtMost } from "../../flows/wait_at_most.ts";
import { defineTool } from "../tool.ts";

/** Waits until a VM has come as far as asked; over MCP it answers with what it saw after `wait_s`. */
export default defineTool({
  name: "vm_wait",
  family: "vm",
  class: "R",
  summary: "Wait until a VM reaches a readiness level",
  input: { vm: VmRef, until: z._default(ReadinessLevel, "heartbeat") },
  positional: ["vm"],
  output: z.object({ reached: z.boolean(), vm: Vm }),
  uses: ["driver", "vm"],
  feature: "vms",
  timed: true,
  waits: true,
  async handle({ until }, context) {
    const { driver, vm, signal, host, progress, options } = context;
    const reached = await waitAtMost(
      host.clock,
      options.wait_s,
      signal,
      (limited) => waitUntil(driver, vm.id, until, { signal: limited, clock: host.clock, progress }),
    );
    return { reached, vm: await driver.vms.get(vm.id, signal) };
  },
});
