import * as z from "zod/mini";
import { EXIT_CODE_OF } from "../../base/errors.ts";
import { Finding } from "../../contract/finding.ts";
import {
  findLeftovers,
  inspectPermissions,
  inspectStateFolder,
  inspectStore,
} from "../../flows/host_checks.ts";
import { defineTool } from "../tool.ts";

/** Checks this host and says for each finding what to do about it. */
export default defineTool({
  name: "doctor",
  family: "meta",
  class: "R",
  summary: "Check this host and say how to fix what is wrong",
  input: {},
  output: z.object({ healthy: z.boolean(), findings: z.array(Finding) }),
  uses: ["driver"],
  async handle(_, { driver, host, state, config, signal }) {
    const findings = [
      ...await driver.diagnose(signal),
      await inspectStateFolder(host, state),
      await inspectStore(host, state),
      await inspectPermissions(host, state, config),
      await findLeftovers(driver, signal),
    ];
    return { healthy: findings.every(({ status }) => status !== "broken"), findings };
  },
  exitCode: ({ healthy }) => healthy ? 0 : EXIT_CODE_OF["hv.unavailable"],
  render: ({ findings }) =>
    findings.map(({ check, status, finding, fix }) =>
      `${status.padEnd(7)}  ${check}: ${finding}${fix === undefined ? "" : `\n         fix: ${fix}`}`
    ).join("\n"),
});
