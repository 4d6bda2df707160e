import * as z from "zod/mini";
import { defineTool } from "../define_tool.ts";

/** Says how much of the host is given to VMs and how many more of the default size would fit. */
export default defineTool({
  name: "host_capacity",
  family: "host",
  class: "R",
  summary: "Say how much room for VMs is left on this host",
  input: {},
  output: z.object({
    processors: z.int(),
    memory_mb: z.int(),
    memory_available_mb: z.int(),
    vms: z.int(),
    vms_running: z.int(),
    vms_allowed: z.int(),
    memory_given_mb: z.int(),
    /** VMs of the default size that could be started now. */
    fitting_vms: z.int(),
  }),
  uses: ["driver"],
  feature: "vms",
  async handle(_, { host, driver, config, signal, warn }) {
    const { vms, warnings } = await driver.vms.list(signal);
    warnings.forEach(warn);
    const awake = vms.filter(({ state }) => state !== "off" && state !== "saved");
    const { total_mb, available_mb } = host.machine.memory();
    const byMemory = Math.floor(available_mb / config.defaults.memory_mb);
    return {
      processors: host.machine.processors(),
      memory_mb: total_mb,
      memory_available_mb: available_mb,
      vms: vms.length,
      vms_running: awake.length,
      vms_allowed: config.limits.vms,
      memory_given_mb: awake.reduce((sum, { memory_mb }) => sum + memory_mb, 0),
      fitting_vms: Math.max(0, Math.min(byMemory, config.limits.vms - vms.length)),
    };
  },
});
