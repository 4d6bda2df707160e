/** The command line waits: a call that answers as a running operation is followed to its end. */

import { type ErrorCode, EXIT_CODE_OF, HvError } from "../base/errors.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { CallAnswer, CallSurroundings, Dispatcher } from "../tools/tool.ts";

/** Waits with `op_wait`, and answers or fails as the call itself would have. */
export async function waitForOperation(
  dispatcher: Dispatcher,
  { tool, op }: CallAnswer & { kind: "running" },
  timeoutS: number | undefined,
  around: CallSurroundings,
): Promise<CallAnswer & { kind: "done" }> {
  const waited = await dispatcher.call(
    { tool: "op_wait", args: { op }, ...(timeoutS === undefined ? {} : { timeout_s: timeoutS }) },
    around,
  );
  if (waited.kind === "running") throw unexpected(op, "running");
  const { state, result, error } = waited.result;
  if (state === "succeeded") {
    return { kind: "done", tool, result: isObject(result) ? result : {}, warnings: waited.warnings };
  }
  throw isObject(error) ? failureFrom(error, op) : unexpected(op, String(state));
}

function failureFrom({ code, message, hint, context, retryable }: JsonObject, op: string): HvError {
  return new HvError(isErrorCode(code) ? code : "hv.outcome_unknown", String(message), {
    ...(typeof hint === "string" ? { hint } : {}),
    context: { ...(isObject(context) ? context : {}), op },
    retryable: retryable === true,
  });
}

function unexpected(op: string, state: string): HvError {
  return new HvError("hv.outcome_unknown", `The operation ${op} ended as "${state}"`, {
    hint: "Read the state of its target before doing anything again",
    context: { op, state },
  });
}

function isErrorCode(code: JsonValue | undefined): code is ErrorCode {
  return typeof code === "string" && code in EXIT_CODE_OF;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return isPlainObject(value);
}
