import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Operation } from "../../contract/operation.ts";
import { defineTool } from "../define_tool.ts";
import { findOperation } from "./find_operation.ts";

/** Asks a running operation to stop; whichever process runs it takes its work back and says so in the record. */
export default defineTool({
  name: "op_cancel",
  family: "meta",
  class: "M",
  summary: "Ask a running operation to stop",
  input: { op: z.string() },
  positional: ["op"],
  output: Operation,
  uses: ["store"],
  async handle({ op }, { store }) {
    const { state } = await findOperation(store, op);
    if (state !== "running") {
      throw new HvError("hv.conflict", `The operation "${op}" is ${state}`, {
        hint: "Only a running operation can be cancelled",
        context: { op, wanted: "running", found: state },
      });
    }
    await store.operations.requestCancel(op);
    return await findOperation(store, op);
  },
});
