/** Operations as rows, and what they mean when their process is gone. */

import * as z from "zod/mini";
import { ErrorObject, type Operation, OperationState, Progress } from "../contract/operation.ts";
import { type Owner, type OwnerWatch } from "./owner.ts";
import { decodeRow, jsonColumn, type SqlRow } from "./sql.ts";

export const COLUMNS =
  "op, tool, target, state, started_at, ended_at, progress, result, error, digest, owner, owner_pid, owner_started, cancel_requested";

const Row = z.object({
  op: z.string(),
  tool: z.string(),
  target: z.nullable(z.string()),
  state: OperationState,
  started_at: z.string(),
  ended_at: z.nullable(z.string()),
  progress: z.nullable(jsonColumn(Progress)),
  result: z.nullable(jsonColumn(z.unknown())),
  error: z.nullable(jsonColumn(ErrorObject)),
  digest: z.nullable(z.string()),
  owner: z.string(),
  owner_pid: z.int(),
  owner_started: z.nullable(z.string()),
  cancel_requested: z.int(),
});
export type OperationRow = z.infer<typeof Row>;

export function readOperationRow(row: SqlRow): OperationRow {
  return decodeRow(Row, row);
}

/** The operation as others see it: running under a process that is gone means that nobody knows how it ended. */
export async function toOperation(row: OperationRow, watch: OwnerWatch): Promise<Operation> {
  const { op, tool, target, state, started_at, ended_at, progress, result, error } = row;
  const owner: Owner = { token: row.owner, pid: row.owner_pid, started: row.owner_started };
  const lost = state === "running" && !await watch.isAlive(owner);
  const failure = lost ? lostError(row) : error;
  return {
    op,
    tool,
    target,
    state: lost ? "unknown" : state,
    started_at,
    ended_at,
    ...(progress === null ? {} : { progress }),
    ...(result === null ? {} : { result }),
    ...(failure === null ? {} : { error: failure }),
  };
}

function lostError({ op, tool, owner_pid }: OperationRow): z.infer<typeof ErrorObject> {
  return {
    code: "hv.outcome_unknown",
    message: `The hvlab process ${owner_pid} that ran "${tool}" ended without recording how it went`,
    retryable: false,
    hint: "Look at the state before doing anything again",
    context: { op, pid: owner_pid },
    correlation_id: op,
  };
}
