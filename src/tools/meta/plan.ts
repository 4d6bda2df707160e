import { formatBytes } from "../../base/units.ts";
import { Plan } from "../../contract/plan.ts";
import { defineTool } from "../define_tool.ts";
import { DELEGATED_INPUT } from "./delegate.ts";

/** Shows what a call of class D or X would do, and gives the single-use token that it needs. */
export default defineTool({
  name: "plan",
  family: "meta",
  class: "R",
  summary: "Preview a class D or X call; pass the answer's confirm to it within 5 min",
  input: DELEGATED_INPUT,
  output: Plan,
  uses: ["dispatcher"],
  handle: ({ tool, args }, { dispatcher, signal }) => dispatcher.plan(tool, args, signal),
  render: ({ preview, plan_id, digest, expires_at, confirm }) =>
    [
      preview.summary,
      ...preview.losses.map(({ what, path, size_bytes }) =>
        `  ${what}${path === undefined ? "" : `  ${path}`}${
          size_bytes === undefined ? "" : `  ${formatBytes(size_bytes)}`
        }`
      ),
      `plan_id: ${plan_id}`,
      `digest: ${digest}`,
      `expires_at: ${expires_at}`,
      `confirm: ${confirm}`,
    ].join("\n"),
});
