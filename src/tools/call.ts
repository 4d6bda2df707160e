/**
 * The one pipeline: look the tool up, validate strictly, resolve the target, policy, plan token, operation record,
 * handler under deadline, cancellation and progress, audit line, answer. Nothing goes round it.
 */

import type { Clock } from "../base/clock.ts";
import { type Deadline, startDeadline } from "../base/deadline.ts";
import { HvError } from "../base/errors.ts";
import type { Plan } from "../contract/plan.ts";
import { type Admitted, ProgressRelay } from "./admission.ts";
import { admit, usesDriver } from "./admit.ts";
import { classOfCall } from "./class_of_call.ts";
import { mayRunWithoutPlan } from "./policy.ts";
import type { Session } from "./session.ts";
import type { CallAnswer, CallRequest, CallSurroundings, Dispatcher, PreparedCall, Tool } from "./tool.ts";

export class Pipeline implements Dispatcher {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async call(request: CallRequest, surroundings: CallSurroundings): Promise<CallAnswer> {
    try {
      const answer = await this.#run(request, surroundings);
      if (answer.kind === "done") answer.warnings.push(...this.#session.takeStoreWarnings());
      return answer;
    } catch (error) {
      const warnings = error instanceof HvError ? this.#session.takeStoreWarnings() : [];
      throw error instanceof HvError && warnings.length > 0 ? error.withContext({ warnings }) : error;
    }
  }

  async #run(request: CallRequest, surroundings: CallSurroundings): Promise<CallAnswer> {
    const tool = await this.#session.catalogue.load(request.tool);
    const prepared = tool.prepare(request.args);
    await this.#makeReady(tool, surroundings.signal);
    const deadline = startDeadline(this.#session.host.clock, limitOf(request), surroundings.signal);
    let handedOver = false;
    try {
      const earlier = await this.#earlierAnswer(tool, prepared, request.key);
      if (earlier !== undefined) return earlier;
      const relay = new ProgressRelay(surroundings.progress);
      const applicant = { tool, prepared, deadline, relay, options: request, surroundings };
      const admitted = await admit(this.#session, this, applicant);
      await this.#confirm(admitted, request.confirm);
      if (admitted.class === "R" || tool.delegates) return await finishUnrecorded(admitted, deadline);
      await this.#sweep(admitted);
      const { recordOperation } = await import("./operations.ts");
      const answer = await recordOperation(this.#session, admitted, request, deadline);
      handedOver = answer.kind === "running";
      return answer;
    } finally {
      if (!handedOver) deadline[Symbol.dispose]();
    }
  }

  /**
   * Goes on with an operation that another process of this user began and confirmed; policy and target are looked at
   * again. Its streams go into files.
   */
  async follow(op: string, signal: AbortSignal): Promise<void> {
    const { host, state, catalogue } = this.#session;
    const { detachedFiles, DetachedOutput, readHandover, withFiles } = await import("./detached.ts");
    const { tool: name, args, timeout_s } = await readHandover(host, state, op);
    const tool = await catalogue.load(name);
    const prepared = tool.prepare(args);
    using deadline = startDeadline(
      host.clock,
      timeout_s === undefined ? undefined : timeout_s * 1000,
      signal,
    );
    const relay = new ProgressRelay();
    using output = await DetachedOutput.open(host, state, op, (progress) => relay.report(progress));
    const surroundings = { sinks: output.sinks };
    const admitted = await admit(this.#session, this, { tool, prepared, deadline, relay, surroundings });
    const files = detachedFiles(state, op);
    const run: PreparedCall["run"] = async (context) =>
      withFiles(await admitted.prepared.run(context), files);
    const { followOperation } = await import("./operations.ts");
    await followOperation(
      this.#session,
      { ...admitted, prepared: { ...admitted.prepared, run } },
      op,
      deadline,
    );
  }

  async plan(name: string, args: unknown, signal: AbortSignal): Promise<Plan> {
    const tool = await this.#session.catalogue.load(name);
    if (tool.class !== "D" && tool.class !== "X" || tool.delegates) {
      throw new HvError("hv.usage", `"${tool.name}" (class ${tool.class}) needs no plan`, {
        hint: "Call it directly",
      });
    }
    const prepared = tool.prepare(args);
    using deadline = startDeadline(this.#session.host.clock, undefined, signal);
    const applicant = { tool, prepared, deadline, relay: new ProgressRelay() };
    const { context, vms } = await admit(this.#session, this, applicant);
    const effect = await prepared.plan(context);
    const { mintPlan, subjectOf } = await import("./confirmation.ts");
    return await mintPlan(
      () => this.#session.store(),
      tool,
      subjectOf(tool, prepared.args, vms, effect),
      effect,
      this.#session.host.clock.now(),
    );
  }

  /** Lets the driver come up before the call's own time begins. */
  async #makeReady(tool: Tool, signal: AbortSignal): Promise<void> {
    if (tool.feature === undefined || !usesDriver(tool)) return;
    const driver = await this.#session.driver();
    if (driver.ready === undefined || !driver.features.has(tool.feature)) return;
    using unlimited = startDeadline(this.#session.host.clock, undefined, signal);
    await driver.ready(unlimited.signal);
  }

  /** The answer that the idempotency key stands for already. */
  async #earlierAnswer(
    tool: Tool,
    prepared: PreparedCall,
    key: string | undefined,
  ): Promise<CallAnswer | undefined> {
    if (key === undefined || classOfCall(tool, prepared.args) === "R" || tool.delegates) return undefined;
    const { answerOfEarlierCall } = await import("./operations.ts");
    return await answerOfEarlierCall(this.#session, tool, prepared.args, key);
  }

  /** Demands and uses up the plan token that class D and X call for. */
  async #confirm({ tool, prepared, context, vms }: Admitted, confirm: string | undefined): Promise<void> {
    if (tool.delegates || (tool.class !== "D" && tool.class !== "X")) return;
    const { config, door } = this.#session;
    if (tool.class === "D" && vms.length > 0 && vms.every(({ sandbox }) => sandbox)) return;
    if (tool.class === "X" && confirm === undefined) {
      const onSandboxOnly = !tool.uses.includes("vm");
      if (onSandboxOnly || mayRunWithoutPlan(config, door, vms[0])) return;
    }
    const { confirmsByName, planRequired, redeemPlan, subjectOf } = await import("./confirmation.ts");
    if (confirm === undefined) throw planRequired(tool, prepared.args);
    if (door === "cli" && tool.class === "D" && confirmsByName(tool, prepared.args, vms, confirm)) return;
    const effect = await prepared.plan(context);
    const subject = subjectOf(tool, prepared.args, vms, effect);
    const { clock } = this.#session.host;
    await redeemPlan(() => this.#session.store(), tool, confirm, subject, clock.now());
  }

  /** Removes sandboxes that nobody holds any more; what cannot be removed becomes a warning, never a failure. */
  async #sweep({ tool, context, warnings }: Admitted): Promise<void> {
    if (!usesDriver(tool)) return;
    try {
      const removed = await context.driver.sandboxes?.sweep(context) ?? [];
      for (const { warnings: troubles = [] } of removed) warnings.push(...troubles);
    } catch (error) {
      context.signal.throwIfAborted();
      warnings.push(
        `Old sandboxes could not be removed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

/** Runs a reading call: no record, no audit line. */
async function finishUnrecorded(admitted: Admitted, deadline: Deadline): Promise<CallAnswer> {
  const { clock } = admitted.context.host;
  const result = await raceSignal(admitted.prepared.run(admitted.context), deadline.signal, clock);
  return { kind: "done", tool: admitted.tool, result, warnings: admitted.warnings };
}

/** A handler that heeds its signal says more about its failure than the signal does, such as what it saw last. */
const LAST_WORD_MS = 1_000;

/** A reading handler that forgets its signal must not outlive its limit for long. */
function raceSignal<T>(work: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  let pause: AbortController | undefined;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      pause = new AbortController();
      clock.sleep(LAST_WORD_MS, pause.signal).then(() => reject(signal.reason), () => {});
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      pause?.abort();
      signal.removeEventListener("abort", onAbort);
    });
  });
}

function limitOf({ timeout_s }: CallRequest): number | undefined {
  return timeout_s === undefined ? undefined : timeout_s * 1000;
}
