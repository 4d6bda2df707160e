import * as z from "zod/mini";
import { ListLimit } from "../../contract/arguments.ts";
import { AuditLine } from "../../contract/operation.ts";
import { defineTool } from "../define_tool.ts";

/** Shows the newest lines of the audit trail. */
export default defineTool({
  name: "audit_tail",
  family: "meta",
  class: "R",
  summary: "Show who changed what, newest last",
  input: { limit: z._default(ListLimit, 50) },
  output: z.object({ lines: z.array(AuditLine) }),
  uses: ["history"],
  handle: async ({ limit }, { history }) => ({ lines: await history?.audit.tail(limit) ?? [] }),
});
