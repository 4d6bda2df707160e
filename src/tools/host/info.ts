import * as z from "zod/mini";
import { defineTool } from "../define_tool.ts";

/** Describes this host and what its driver can do. */
export default defineTool({
  name: "host_info",
  family: "host",
  class: "R",
  summary: "Describe this host and its hypervisor driver",
  input: {},
  output: z.object({
    hostname: z.string(),
    os: z.string(),
    os_release: z.string(),
    architecture: z.string(),
    processors: z.int(),
    memory_mb: z.int(),
    driver: z.string(),
    features: z.array(z.string()),
    /** What the driver's provider says of this host, where it has one. */
    provider: z.optional(z.record(z.string(), z.unknown())),
  }),
  uses: ["driver"],
  async handle(_, { host, driver, signal }) {
    const provider = await driver.hostFacts?.(signal);
    return {
      hostname: host.machine.hostname(),
      os: host.os,
      os_release: host.machine.osRelease(),
      architecture: host.machine.architecture(),
      processors: host.machine.processors(),
      memory_mb: host.machine.memory().total_mb,
      driver: driver.name,
      features: [...driver.features].sort(),
      ...(provider === undefined ? {} : { provider }),
    };
  },
});
