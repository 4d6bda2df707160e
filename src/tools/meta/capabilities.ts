import * as z from "zod/mini";
import { VERSION } from "../../base/version.ts";
import { TOOL_CLASSES } from "../../contract/tool_class.ts";
import { defineTool } from "../define_tool.ts";

/** The MCP revisions that `hvlab mcp` speaks. */
export const PROTOCOL_REVISIONS = ["2025-11-25", "2026-07-28"] as const;

/** Says what this hvlab can do here. */
export default defineTool({
  name: "capabilities",
  family: "meta",
  class: "R",
  summary: "Say what this hvlab can do: version, driver, features, policy",
  input: {},
  output: z.object({
    version: z.string(),
    protocol_revisions: z.array(z.string()),
    driver: z.string(),
    features: z.array(z.string()),
    tools: z.int(),
    classes: z.array(z.string()),
    policy_mode: z.string(),
  }),
  uses: ["driver", "catalogue"],
  handle: (_, { driver, catalogue, config }) =>
    Promise.resolve({
      version: VERSION,
      protocol_revisions: [...PROTOCOL_REVISIONS],
      driver: driver.name,
      features: [...driver.features].sort(),
      tools: catalogue.names.length,
      classes: [...TOOL_CLASSES],
      policy_mode: config.policy.mode,
    }),
});
