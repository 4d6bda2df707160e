import * as z from "zod/mini";
import { EXIT_CODE_OF } from "../../base/errors.ts";
import { Operation } from "../../contract/operation.ts";
import { waitAtMost } from "../../flows/waiting/wait_at_most.ts";
import { defineTool } from "../define_tool.ts";
import { findOperation } from "./find_operation.ts";

const LOOK_AGAIN_MS = 100;

/** Waits for an operation's end; answers with its state when the wait is over first. */
export default defineTool({
  name: "op_wait",
  family: "meta",
  class: "R",
  summary: "Wait for an operation and get its result",
  input: { op: z.string() },
  positional: ["op"],
  output: Operation,
  uses: ["history"],
  timed: true,
  waits: true,
  async handle({ op }, { history, host, signal, options, progress }) {
    await waitAtMost(host.clock, options.wait_s, signal, async (limited) => {
      for (;;) {
        const { state, progress: latest } = await findOperation(history, op);
        if (state !== "running") return;
        if (latest !== undefined) progress(latest);
        await host.clock.sleep(LOOK_AGAIN_MS, limited);
      }
    });
    return await findOperation(history, op);
  },
  exitCode: ({ state, error }) => state === "succeeded" || state === "running" ? 0 : exitCodeOf(error?.code),
});

function exitCodeOf(code: string | undefined): number {
  return Object.entries(EXIT_CODE_OF).find(([name]) => name === code)?.[1] ??
    EXIT_CODE_OF["hv.outcome_unknown"];
}
