import * as z from "zod/mini";
import { ListLimit } from "../../contract/arguments.ts";
import { Operation, OperationState } from "../../contract/operation.ts";
import { defineTool } from "../define_tool.ts";

/** Lists recorded operations, newest first. */
export default defineTool({
  name: "op_list",
  family: "meta",
  class: "R",
  summary: "List operations, newest first",
  input: { with_state: z.optional(OperationState), limit: z._default(ListLimit, 20) },
  output: z.object({ operations: z.array(Operation) }),
  columns: ["state", "tool", "target", "started_at", "ended_at", "op"],
  uses: ["history"],
  handle: async ({ with_state: state, limit }, { history }) => ({
    operations: await history?.operations.list({ limit, ...(state === undefined ? {} : { state }) }) ?? [],
  }),
});
