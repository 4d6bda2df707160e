/** `hvlab mcp` from its start to its first answer, beside a loop written by hand. */

import { ROOT } from "../programs.ts";
import { McpSession } from "./mcp_session.ts";
import { bundleArguments, fileArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 15;

/** Measures both servers. */
export async function measureMcp(): Promise<Row[]> {
  const [byHand = NaN, ours = NaN] = await measureSideBySide(
    [
      () => timeToAnswer(fileArguments(`${ROOT}/tools/bench/json_rpc_loop.js`)),
      () => timeToAnswer(bundleArguments(["mcp"])),
    ],
    ROUNDS,
  );
  return [
    { what: "40 lines by hand", value: byHand },
    { what: "hvlab mcp", value: ours, baseline: byHand, target: 5 },
  ];
}

async function timeToAnswer(args: string[]): Promise<number> {
  const start = performance.now();
  await using session = new McpSession(args);
  await session.initialize();
  return performance.now() - start;
}
