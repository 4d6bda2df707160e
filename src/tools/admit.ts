/** Everything that is looked at before a plan token: policy, the driver's features, the targets. */

import type { Deadline } from "../base/deadline.ts";
import { HvError } from "../base/errors.ts";
import { joinPath } from "../base/paths.ts";
import type { Vm } from "../contract/vm.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Admitted, ProgressRelay } from "./admission.ts";
import { classOfCall } from "./class_of_call.ts";
import { checkTool, checkVm, checkWrite } from "./policy.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets.ts";
import type {
  CallContext,
  CallOptions,
  CallSurroundings,
  Dispatcher,
  PreparedCall,
  Provided,
  Tool,
} from "./tool.ts";

/** A call whose arguments have been checked, and what it comes with. */
export interface Applicant {
  tool: Tool;
  prepared: PreparedCall;
  deadline: Deadline;
  relay: ProgressRelay;
  options?: CallOptions;
  surroundings?: Pick<CallSurroundings, "sinks" | "terminal">;
}

/** Lets a call in, with all that its handler asks for. Throws the coded error of the first gate that it does not pass. */
export async function admit(
  session: Session,
  dispatcher: Dispatcher,
  { tool, prepared, deadline, relay, options = {}, surroundings: { sinks, terminal } = {} }: Applicant,
): Promise<Admitted> {
  const { host, config, state, door, catalogue } = session;
  const callClass = classOfCall(tool, prepared.args);
  checkTool(config, tool, callClass);
  const driver = usesDriver(tool) ? await session.driver() : undefined;
  if (driver !== undefined) checkFeature(driver, tool);
  const targets = driver === undefined ? [] : await findTargets(session, driver, tool, prepared, deadline);
  const vms = targets.flatMap((target) => target.vm ?? []);
  await checkWrites(session, tool, prepared);

  const uses = new Set(tool.uses);
  const vm = uses.has("vm") ? vms[0] : undefined;
  const store = uses.has("store") ? await session.store() : undefined;
  const history = uses.has("history") ? await session.history() : undefined;
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
    dispatcher,
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

/** Whether a tool works with the driver of its call. */
export function usesDriver({ uses }: Tool): boolean {
  return uses.includes("driver") || uses.includes("vm") || uses.includes("targets");
}

function checkFeature({ name, features }: Driver, { feature }: Tool): void {
  if (feature === undefined || features.has(feature)) return;
  throw new HvError("hv.unsupported", `The driver "${name}" has no ${feature}`, {
    hint: `It has ${[...features].join(", ")}`,
    context: { driver: name, feature },
  });
}

/**
 * The VMs that the call names, observed now and allowed by the policy. Of several in a call that loses nothing each
 * may fail for itself; else a failure is thrown.
 */
async function findTargets(
  { config }: Session,
  driver: Driver,
  tool: Tool,
  { args }: PreparedCall,
  { signal }: Deadline,
): Promise<Target[]> {
  if (!tool.uses.includes("vm") && !tool.uses.includes("targets")) return [];
  const named = [args.vm].flat().filter((reference) => typeof reference === "string");
  const allow = (vm: Vm): void => checkVm(config, vm);
  const { resolveVms } = await import("./targets.ts");
  const targets = await resolveVms(driver, named, allow, signal);
  const failed = targets.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined && (targets.length === 1 || tool.class === "D")) throw failed.error;
  return targets;
}

/** The host files and folders that the call writes, or lets a guest write. */
async function checkWrites(
  { config, host, door }: Session,
  tool: Tool,
  prepared: PreparedCall,
): Promise<void> {
  const written = tool.writes === undefined ? undefined : prepared.args[tool.writes];
  if (typeof written === "string") await checkWrite(config, host, door, written);
  for (const folder of prepared.opens()) await checkWrite(config, host, door, joinPath(folder, "file"));
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

function provided<T>(value: T | undefined, what: string, tool: Tool): T {
  if (value !== undefined) return value;
  throw new HvError("hv.internal", `The tool "${tool.name}" reads "${what}" without naming it in its uses`);
}
