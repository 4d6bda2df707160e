import * as z from "zod/mini";
import { EXIT_CODE_OF, HvError } from "../../base/errors.ts";
import { Finding } from "../../contract/finding.ts";
import { Path } from "../../contract/path.ts";
import { makeReport } from "../../flows/doctor_report.ts";
import {
  findLeftovers,
  inspectPermissions,
  inspectStateFolder,
  inspectStore,
} from "../../flows/host_checks.ts";
import { writeNewFile } from "../../flows/write_new_file.ts";
import { defineTool } from "../define_tool.ts";

/** Checks this host and says for each finding what to do about it; or gives what a bug report needs. */
export default defineTool({
  name: "doctor",
  family: "meta",
  class: "R",
  summary: "Check this host and say how to fix what is wrong",
  input: {
    report: z._default(z.boolean(), false),
    output: z.optional(Path),
    overwrite: z._default(z.boolean(), false),
  },
  unlisted: ["report", "output", "overwrite"],
  help: {
    report: "Give raw facts for a bug report instead; it holds no names, paths or secrets",
    output: "A new file for the report; without it the report is in the answer",
    overwrite: "Replaces the file",
  },
  output: z.object({
    healthy: z.boolean(),
    /** What was found; absent beside a report, which says less of it. */
    findings: z.optional(z.array(Finding)),
    report: z.optional(z.record(z.string(), z.json())),
    output: z.optional(z.string()),
  }),
  uses: ["driver"],
  writes: "output",
  async handle({ report: wantsReport, output, overwrite }, { driver, host, state, config, signal }) {
    if (output !== undefined && !wantsReport) {
      throw new HvError("hv.usage", "Only a report is written to a file", {
        hint: "Give --report as well",
        context: { output },
      });
    }
    const findings = [
      ...await driver.diagnose(signal),
      await inspectStateFolder(host, state),
      await inspectStore(host, state),
      await inspectPermissions(host, state, config),
      await findLeftovers(driver, signal),
    ];
    const healthy = findings.every(({ status }) => status !== "broken");
    if (!wantsReport) return { healthy, findings };
    const report = await makeReport(host, driver, findings, signal);
    if (output === undefined) return { healthy, report };
    const bytes = new TextEncoder().encode(JSON.stringify(report, undefined, 2) + "\n");
    await writeNewFile(host, output, bytes, overwrite);
    return { healthy, output };
  },
  exitCode: ({ healthy }) => healthy ? 0 : EXIT_CODE_OF["hv.unavailable"],
  render: ({ findings, report, output }) => {
    if (report !== undefined) return JSON.stringify(report, undefined, 2);
    if (output !== undefined) return `The report is in ${output}`;
    return findings?.map(({ check, status, finding, fix }) =>
      `${status.padEnd(7)}  ${check}: ${finding}${fix === undefined ? "" : `\n         fix: ${fix}`}`
    ).join("\n");
  },
});
