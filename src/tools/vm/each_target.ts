/** One call for one VM or several: of several each is worked on for itself and has a result of its own. */

import { EXIT_CODE_OF, toHvError } from "../../base/errors.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { Vm, VmOutcome } from "../../contract/vm.ts";
import type { Target } from "../targets.ts";
import type { CallContext } from "../tool.ts";

/** What is worked on at once; more would only get into each other's way. */
const AT_ONCE = 3;

type Scope = Pick<CallContext, "signal" | "progress" | "warn">;

/** What of a result stands among those of others. */
type Summary = Pick<VmOutcome, "state" | "removed" | "warnings">;

/**
 * Works on every target, a few at a time, whatever becomes of the others. One target's result is the answer; of
 * several the summaries stand in the order of the call, and progress and warnings bear the VM's name.
 */
export async function forOneOrEach<C extends Scope, R extends object>(
  targets: readonly Target[],
  context: C,
  work: (vm: Vm, context: C) => Promise<R>,
  summarize: (result: R) => Summary,
): Promise<R | { results: VmOutcome[] }> {
  const [only, ...others] = targets;
  if (only?.vm !== undefined && others.length === 0) return await work(only.vm, context);
  const results: VmOutcome[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const index = next++;
      const target = targets[index];
      if (target === undefined) return;
      results[index] = await outcomeOf(target, context, async (vm, own) => summarize(await work(vm, own)));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, targets.length) }, worker));
  return { results };
}

async function outcomeOf<C extends Scope>(
  target: Target,
  context: C,
  work: (vm: Vm, context: C) => Promise<Summary>,
): Promise<VmOutcome> {
  const { reference: vm } = target;
  if (target.error !== undefined) return { vm, ok: false, error: target.error.toEnvelope() };
  const { id } = target.vm;
  const own: C = {
    ...context,
    progress: (step) => context.progress({ ...step, message: `${vm}: ${step.message}` }),
    warn: (text) => context.warn(`${vm}: ${text}`),
  };
  try {
    context.signal.throwIfAborted();
    return { vm, id, ok: true, ...await work(target.vm, own) };
  } catch (error) {
    return { vm, id, ok: false, error: toHvError(error).toEnvelope() };
  }
}

/** The exit code of the first failure, 0 without one. */
export function exitCodeOfAll({ results = [] }: { results?: VmOutcome[] | undefined }): number {
  const code = results.find(({ ok }) => !ok)?.error?.code;
  const known = Object.entries(EXIT_CODE_OF).find(([name]) => name === code);
  return known?.[1] ?? 0;
}

/** One line for each VM; `undefined` for the answer about a single one. */
export function renderAll({ results }: { results?: VmOutcome[] | undefined }): string | undefined {
  return results?.map(({ vm, ok, state, removed, error }) => {
    const done = removed === undefined ? state ?? "done" : removed ? "removed" : "not removed whole";
    const text = ok || error === undefined ? done : `failed: ${error.message} (${error.code})`;
    return `${visibleText(vm)}  ${visibleText(text)}`;
  }).join("\n");
}
