/** Calls that change something: each is an operation in the store and a line in the audit trail. */

import type { Deadline } from "../base/deadline.ts";
import { HvError, toHvError } from "../base/errors.ts";
import { newUlid } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Operation } from "../contract/operation.ts";
import { type Begun, digestOfCall } from "../state/operations.ts";
import type { Store } from "../state/store.ts";
import type { CallAnswer, CallRequest, Tool } from "./tool.ts";
import type { Session } from "./session.ts";
import { idsOf } from "./targets.ts";
import type { Admitted } from "./admission.ts";

/** How often a running call looks whether another process asked to cancel it. */
const CANCEL_LOOK_MS = 500;

/**
 * Runs the handler under an operation record. Answers with the result, or with the running operation once `wait_s`
 * has passed; the work then goes on and its record says how it ended.
 */
export async function recordOperation(
  session: Session,
  call: Admitted,
  request: CallRequest,
  deadline: Deadline,
): Promise<CallAnswer> {
  const { tool, prepared, context, vms, relay, warnings } = call;
  const op = `op-${newUlid(session.host.clock.now())}`;
  const idempotency = request.key === undefined
    ? {}
    : { idempotency: await idempotencyOf(request.key, tool, prepared.args) };
  const at = timeOf(session);
  const record = { op, tool: tool.name, target: idsOf(vms) ?? null, door: session.door, at, ...idempotency };
  const store = await openOrGoWithout(session, tool);
  const begun = store === undefined ? undefined : await beginOrGoWithout(store, tool, record);
  if (store === undefined || begun === undefined) {
    const result = await prepared.run(context);
    return { kind: "done", tool, result: { ...result, recorded: false }, warnings };
  }
  const detaches = tool.detaches !== undefined && prepared.args[tool.detaches] === true;
  // What another call or process works on runs under that one's limits.
  if (!begun.created || detaches) deadline[Symbol.dispose]();
  if (!begun.created) return answerOfKnown(begun.operation, tool);
  if (detaches) {
    return await detach(session, store, call, request, op);
  }

  relay.listen((progress) => {
    store.operations.progress(op, progress).catch(() => warnings.push("The progress could not be recorded"));
  });
  const stopLooking = watchForCancel(session, store, op, deadline);
  const work = runRecorded(session, store, call, op).finally(() => {
    stopLooking();
    deadline[Symbol.dispose]();
  });
  session.keepOpenFor(work, deadline);
  if (request.wait_s === undefined) return { kind: "done", tool, result: await work, warnings };
  const result = await withinWait(session, work, request.wait_s * 1000);
  if (result !== undefined) return { kind: "done", tool, result, warnings };
  work.catch(() => {});
  return { kind: "running", tool, op, progress: relay.latest };
}

/** Has a process of its own go on with the call; the record goes over to it. */
async function detach(
  session: Session,
  store: Store,
  call: Admitted,
  request: CallRequest,
  op: string,
): Promise<CallAnswer> {
  const { tool, prepared: { args } } = call;
  try {
    const { detachedFiles, handOver } = await import("./detached.ts");
    const { timeout_s } = request;
    const handover = { tool: tool.name, args, ...(timeout_s === undefined ? {} : { timeout_s }) };
    await handOver(session.target, session.startFollower, op, handover);
    return { kind: "running", tool, op, progress: undefined, detached: detachedFiles(session.state, op) };
  } catch (thrown) {
    const error = toHvError(thrown).withContext({ op });
    await recordEnd(session, store, call, op, { error });
    throw error;
  }
}

/** Goes on with an operation that another process began: this one is its owner until it ends. */
export async function followOperation(
  session: Session,
  call: Admitted,
  op: string,
  deadline: Deadline,
): Promise<void> {
  const store = await session.store();
  await store.operations.takeOver(op);
  const { takeHandover } = await import("./detached.ts");
  await takeHandover(session.host, session.state, op);
  call.relay.listen((progress) => {
    store.operations.progress(op, progress).catch(() => {});
  });
  const stopLooking = watchForCancel(session, store, op, deadline);
  const work = runRecorded(session, store, call, op).finally(stopLooking);
  session.keepOpenFor(work, deadline);
  await work;
}

/** Runs the handler and records how it ended; its failure carries the operation's id. */
async function runRecorded(session: Session, store: Store, call: Admitted, op: string): Promise<JsonObject> {
  let outcome: { result: JsonObject } | { error: HvError };
  Object.defineProperty(call.context, "op", { value: op, enumerable: true });
  try {
    outcome = { result: await call.prepared.run(call.context) };
  } catch (thrown) {
    outcome = { error: toHvError(thrown).withContext({ op }) };
  }
  await recordEnd(session, store, call, op, outcome);
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}

/** The answer of the call that the same key made before, so that its plan token need not be good twice. */
export async function answerOfEarlierCall(
  session: Session,
  tool: Tool,
  args: JsonObject,
  key: string,
): Promise<CallAnswer | undefined> {
  const store = await openOrGoWithout(session, tool);
  if (store === undefined) return undefined;
  const earlier = await store.operations.findByKey(await idempotencyOf(key, tool, args), tool.name);
  return earlier === undefined ? undefined : answerOfKnown(earlier, tool);
}

async function idempotencyOf(
  key: string,
  tool: Tool,
  args: JsonObject,
): Promise<{ key: string; digest: string }> {
  return { key, digest: await digestOfCall(tool.name, args) };
}

/** Without a store a change is refused, except one that frees something. */
async function openOrGoWithout(session: Session, tool: Tool): Promise<Store | undefined> {
  try {
    return await session.store();
  } catch (error) {
    if (tool.frees && error instanceof HvError) return undefined;
    throw error;
  }
}

/** A store can often still be opened and read on a full disk; the first row to be written fails then. */
async function beginOrGoWithout(
  { operations }: Store,
  tool: Tool,
  record: Parameters<Store["operations"]["begin"]>[0],
): Promise<Begun | undefined> {
  try {
    return await operations.begin(record);
  } catch (error) {
    if (tool.frees && error instanceof HvError && error.code === "hv.io") return undefined;
    throw error;
  }
}

/** The key was used before for the same call: its operation answers, nothing runs twice. */
function answerOfKnown(operation: Operation, tool: Tool): CallAnswer {
  const { op, state, error, progress } = operation;
  if (state === "running") return { kind: "running", tool, op, progress };
  if (state === "succeeded") {
    return { kind: "done", tool, result: JSON.parse(JSON.stringify(operation.result ?? {})), warnings: [] };
  }
  throw new HvError("hv.conflict", `The same call ended before as ${state}: ${error?.message ?? op}`, {
    hint: "Look at the state, then use a new idempotency key to try again",
    context: { op, state, ...(error === undefined ? {} : { code: error.code }) },
  });
}

/** The work is done or undone by now; a record that cannot be written is told, and changes nothing of that. */
async function recordEnd(
  session: Session,
  store: Store,
  { tool, class: callClass, vms, warnings }: Admitted,
  op: string,
  outcome: { result: JsonObject } | { error: HvError },
): Promise<void> {
  const at = timeOf(session);
  const failed = "error" in outcome ? outcome.error : undefined;
  const state = failed === undefined ? "succeeded" : stateOf(failed);
  const made = "result" in outcome ? idOfMade(outcome.result) : undefined;
  try {
    if (vms.length === 0 && made !== undefined) await store.operations.setTarget(op, made);
    await store.operations.finish(
      op,
      "error" in outcome
        ? { state: stateOf(outcome.error), error: outcome.error.toEnvelope() }
        : { state: "succeeded", result: outcome.result },
      at,
    );
    await store.audit.append({
      at,
      op,
      tool: tool.name,
      class: callClass,
      door: session.door,
      target: idsOf(vms) ?? made ?? null,
      outcome: failed?.code ?? (isPartFailure(tool, outcome) ? "failed in part" : state),
    });
  } catch (error) {
    warnings.push(`The end of ${op} could not be recorded: ${toHvError(error).message}`);
  }
}

/** A call that names several VMs ends well although some of them failed; its exit code tells. */
function isPartFailure(tool: Tool, outcome: { result: JsonObject } | { error: HvError }): boolean {
  return "result" in outcome && tool.exitCode(outcome.result) !== 0;
}

/** The VM that a call made, when it made one. */
function idOfMade({ id }: JsonObject): string | undefined {
  return typeof id === "string" && id.startsWith("vm-") ? id : undefined;
}

function stateOf(error: HvError): "failed" | "cancelled" | "unknown" {
  if (error.code === "hv.cancelled") return "cancelled";
  return error.code === "hv.outcome_unknown" ? "unknown" : "failed";
}

function watchForCancel(session: Session, store: Store, op: string, deadline: Deadline): () => void {
  const ended = new AbortController();
  const look = async (): Promise<void> => {
    for (;;) {
      await session.host.clock.sleep(CANCEL_LOOK_MS, ended.signal);
      if (await store.operations.isCancelRequested(op)) {
        deadline.end(new HvError("hv.cancelled", `The operation ${op} was cancelled`, { context: { op } }));
        return;
      }
    }
  };
  look().catch(() => {});
  return () => ended.abort();
}

/** The result when it comes within the wait, `undefined` when the work goes on. */
async function withinWait(
  session: Session,
  work: Promise<JsonObject>,
  waitMs: number,
): Promise<JsonObject | undefined> {
  const ended = new AbortController();
  const timer = session.host.clock.sleep(waitMs, ended.signal).then(() => undefined, () => undefined);
  try {
    return await Promise.race([work, timer]);
  } finally {
    ended.abort();
  }
}

function timeOf(session: Session): string {
  return new Date(session.host.clock.now()).toISOString();
}
