import { defineTool } from "../define_tool.ts";
import { delegate, DELEGATED_INPUT, DELEGATED_OUTPUT } from "./delegate.ts";

/** Calls any changing tool, listed or not; that tool's own gates hold. */
export default defineTool({
  name: "call",
  family: "meta",
  class: "X",
  summary: "Call any other tool, listed or not; its own plan rules hold",
  input: DELEGATED_INPUT,
  output: DELEGATED_OUTPUT,
  uses: ["catalogue", "dispatcher"],
  delegates: true,
  handle: (call, context) => delegate(call, { reads: false, instead: "read" }, context),
});
