import { defineTool } from "../define_tool.ts";
import { delegate, DELEGATED_INPUT, DELEGATED_OUTPUT } from "./delegate.ts";

/** Calls any reading tool, listed or not. */
export default defineTool({
  name: "read",
  family: "meta",
  class: "R",
  summary: "Call any class R tool, listed or not",
  input: DELEGATED_INPUT,
  output: DELEGATED_OUTPUT,
  uses: ["catalogue", "dispatcher"],
  delegates: true,
  handle: (call, context) => delegate(call, { reads: true, instead: "call" }, context),
});
