/**
 * The one pipeline: look the tool up, validate strictly, resolve the target, policy, plan token, operation record,
 * handler under deadline, cancellation and progress, audit line, answer. Nothing goes round it.
 */

import type { Clock } from "../base/clock.ts";
import { type Deadline, startDeadline } from "../base/deadline.ts";
import { HvError } from "../base/errors.ts";
import { joinPath } from "../base/paths.ts";
import type { Plan } from "../contract/plan.ts";
import type { Vm } from "../contract/vm.ts";
import type { Driver } from "../drivers/driver.ts";
import type {
  CallAnswer,
  CallContext,
  CallOptions,
  CallRequest,
  CallSurroundings,
  Dispatcher,
  PreparedCall,
  Provided,
  Tool,
} from "./tool.ts";
import { type Admitted, ProgressRelay } from "./admission.ts";
import { checkTool, checkVm, checkWrite, mayRunWithoutPlan } from "./policy.ts";
import type { Session } from "./session.ts";
import { resolveVms, type Target } from "./targets.ts";
import { classOfCall } from "./class_of_call.ts";

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
      const admitted = await this.#admit(tool, prepared, deadline, relay, request, surroundings);
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
    const admitted = await this.#admit(tool, prepared, deadline, relay, {}, { sinks: output.sinks });
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
    const { context, vms } = await this.#admit(tool, prepared, deadline, new ProgressRelay(), {}, {});
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

  /** Policy, features, target: everything that is looked at before a token. */
  async #admit(
    tool: Tool,
    prepared: PreparedCall,
    deadline: Deadline,
    relay: ProgressRelay,
    options: CallOptions,
    { sinks, terminal }: Pick<CallSurroundings, "sinks" | "terminal">,
  ): Promise<Admitted> {
    const { host, config, state, door, catalogue } = this.#session;
    const callClass = classOfCall(tool, prepared.args);
    checkTool(config, tool, callClass);
    const uses = new Set(tool.uses);
    const driver = usesDriver(tool) ? await this.#session.driver() : undefined;
    if (driver !== undefined && tool.feature !== undefined && !driver.features.has(tool.feature)) {
      throw new HvError("hv.unsupported", `The driver "${driver.name}" has no ${tool.feature}`, {
        hint: `It has ${[...driver.features].join(", ")}`,
        context: { driver: driver.name, feature: tool.feature },
      });
    }
    const targets = driver === undefined ? [] : await this.#findTargets(driver, tool, prepared, deadline);
    const vms = targets.flatMap((target) => target.vm ?? []);
    const vm = uses.has("vm") ? vms[0] : undefined;
    const written = tool.writes === undefined ? undefined : prepared.args[tool.writes];
    if (typeof written === "string") await checkWrite(config, host, door, written);
    for (const folder of prepared.opens()) await checkWrite(config, host, door, joinPath(folder, "file"));

    const store = uses.has("store") ? await this.#session.store() : undefined;
    const history = uses.has("history") ? await this.#session.history() : undefined;
    const warnings: string[] = [];
    const context: CallContext & Provided = {
      host,
      config,
      state,
      door,
      signal: deadline.signal,
      progress: (progress) => relay.report(progress),
      warn: (text) => warnings.push(text),
      options,
      sinks,
      terminal,
      history,
      catalogue,
      dispatcher: this,
      get driver() {
        return provided(driver, "driver", tool);
      },
      get store() {
        return provided(store, "store", tool);
      },
      get vm() {
        return provided(vm, "vm", tool);
      },
      get targets() {
        return provided(uses.has("targets") ? targets : undefined, "targets", tool);
      },
    };
    // Handlers hand on `{ ...context }`: that must not read what the tool did not ask for.
    const asked = { driver, store, vm, targets: uses.has("targets") ? targets : undefined };
    for (const [name, value] of Object.entries(asked)) {
      Object.defineProperty(context, name, { enumerable: value !== undefined });
    }
    return {
      tool,
      class: callClass,
      prepared: driver?.simulated ? markSimulated(prepared) : prepared,
      context,
      vms,
      relay,
      warnings,
    };
  }

  /**
   * The VMs that the call names, observed now and allowed by the policy. Of several in a call that loses nothing each
   * may fail for itself; else a failure is thrown.
   */
  async #findTargets(
    driver: Driver,
    tool: Tool,
    { args }: PreparedCall,
    { signal }: Deadline,
  ): Promise<Target[]> {
    if (!tool.uses.includes("vm") && !tool.uses.includes("targets")) return [];
    const named = [args.vm].flat().filter((reference) => typeof reference === "string");
    const allow = (vm: Vm): void => checkVm(this.#session.config, vm);
    const targets = await resolveVms(driver, named, allow, signal);
    const failed = targets.find(({ error }) => error !== undefined);
    if (failed?.error !== undefined && (targets.length === 1 || tool.class === "D")) throw failed.error;
    return targets;
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
    if (confirm === undefined) throw planRequired(tool, prepared.args, door);
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

function usesDriver({ uses }: Tool): boolean {
  return uses.includes("driver") || uses.includes("vm") || uses.includes("targets");
}

/** What a simulated host answers must never pass for a real host's. */
function markSimulated(prepared: PreparedCall): PreparedCall {
  return {
    args: prepared.args,
    opens: () => prepared.opens(),
    run: async (context) => ({ ...await prepared.run(context), simulated: true }),
    plan: (context) => prepared.plan(context),
  };
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
  const over = new AbortController();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clock.sleep(LAST_WORD_MS, over.signal).then(() => reject(signal.reason), () => {});
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      over.abort();
      signal.removeEventListener("abort", onAbort);
    });
  });
}

function limitOf({ timeout_s }: CallRequest): number | undefined {
  return timeout_s === undefined ? undefined : timeout_s * 1000;
}

function provided<T>(value: T | undefined, what: string, tool: Tool): T {
  if (value !== undefined) return value;
  throw new HvError("hv.internal", `The tool "${tool.name}" reads "${what}" without naming it in its uses`);
}
