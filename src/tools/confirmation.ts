/** Plan tokens: made over the exact call, and held against it when it comes. */

import { HvError } from "../base/errors.ts";
import { newUlid } from "../base/ids.ts";
import { canonicalJson, isPlainObject, type JsonObject, type JsonValue, sha256Hex } from "../base/json.ts";
import type { Plan } from "../contract/plan.ts";
import type { Vm } from "../contract/vm.ts";
import type { Store } from "../state/store.ts";
import { idsOf } from "./targets.ts";
import type { PlannedEffect, Tool } from "./tool.ts";

const LIFE_MS = 5 * 60 * 1000;
/** Clocks are adjusted in small steps all the time; less than this is no sign of a clock set back. */
const CLOCK_STEP_MS = 1000;
const ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const TOKEN = /^(plan-[0-9A-HJKMNP-TV-Z]{26}):([0-9a-f]{64})$/;

/** Why a token that fits is refused all the same. */
const WORTHLESS = {
  used: "was used before",
  expired: "has expired",
  clock_moved: "was made later than this host's clock says it is now",
  missing: "is not known",
} as const;

/** What a token is bound to; the digest is taken over its canonical JSON. */
export interface PlanSubject {
  tool: string;
  args: JsonObject;
  target: string | null;
  fingerprint: JsonValue;
}

/** Binds a call to its target and the state that was seen. */
export function subjectOf(
  tool: Tool,
  args: JsonObject,
  vms: readonly Vm[],
  effect: PlannedEffect,
): PlanSubject {
  return {
    tool: tool.name,
    args,
    target: idsOf(vms) ?? targetText(tool, args) ?? null,
    fingerprint: effect.fingerprint,
  };
}

/**
 * Makes and keeps a token. For a tool that frees something it is good without being kept, so that a full disk can be
 * emptied; else throws what the store throws.
 */
export async function mintPlan(
  openStore: () => Promise<Store>,
  { frees }: Tool,
  subject: PlanSubject,
  effect: PlannedEffect,
  now: number,
): Promise<Plan> {
  const planId = `plan-${newUlid(now)}`;
  const digest = await digestOf(subject);
  const expiresAt = new Date(now + LIFE_MS).toISOString();
  try {
    const store = await openStore();
    await store.plans.save({ plan_id: planId, digest, expires_at: expiresAt, subject: { ...subject } });
  } catch (error) {
    if (!frees || !(error instanceof HvError)) throw error;
  }
  return {
    plan_id: planId,
    digest,
    expires_at: expiresAt,
    confirm: `${planId}:${digest}`,
    preview: { summary: effect.summary, target: subject.target, losses: effect.losses },
  };
}

/**
 * Holds a token against the call that carries it and uses it up. Throws `hv.plan_invalid` that says what differs;
 * a token that did not fit stays usable for the call that it was made for.
 */
export async function redeemPlan(
  openStore: () => Promise<Store>,
  { frees }: Tool,
  confirm: string,
  subject: PlanSubject,
  now: number,
): Promise<void> {
  const [, planId, digest] = TOKEN.exec(confirm) ?? [];
  if (planId === undefined || digest === undefined) {
    throw invalid(`"${shorten(confirm)}" is not of the form PLAN_ID:DIGEST`, subject, { differs: ["form"] });
  }
  try {
    await redeemKept(await openStore(), { planId, digest, subject, canBeUnkept: frees, now });
  } catch (error) {
    if (!frees || !(error instanceof HvError) || error.code === "hv.plan_invalid") throw error;
    await checkUnkept(planId, digest, subject, now);
  }
}

/** Holds a token against what the store knows of it and uses it up. */
async function redeemKept(
  { plans }: Store,
  { planId, digest, subject, canBeUnkept, now }: {
    planId: string;
    digest: string;
    subject: PlanSubject;
    canBeUnkept: boolean;
    now: number;
  },
): Promise<void> {
  const kept = await plans.get(planId);
  if (kept === undefined) {
    // Keeping a used-up token asks of the store what making one did: where that fails, it could not be kept then.
    if (canBeUnkept) {
      const expiresAt = new Date(now).toISOString();
      await plans.save({ plan_id: planId, digest, expires_at: expiresAt, subject: { ...subject } });
    }
    throw invalid(`The plan "${planId}" is not known`, subject, { differs: ["plan_id"] });
  }
  if (kept.digest !== digest) {
    throw invalid(`The digest does not belong to the plan "${planId}"`, subject, { differs: ["digest"] });
  }
  if (await digestOf(subject) !== digest) {
    const differs = differences(kept.subject, subject);
    throw invalid(`The plan "${planId}" was made for another ${differs.join(" and ")}`, subject, { differs });
  }
  const { status } = await plans.consume(planId);
  if (status !== "valid") {
    throw invalid(`The plan "${planId}" ${WORTHLESS[status]}`, subject, { differs: [status] });
  }
}

/**
 * Holds a token against the call alone, while the store cannot be written: its digest against the subject, its age by
 * the time in its id. That it is used once is not ensured here; the removal itself changes the state that it is bound
 * to.
 */
async function checkUnkept(
  planId: string,
  digest: string,
  subject: PlanSubject,
  now: number,
): Promise<void> {
  if (await digestOf(subject) !== digest) {
    throw invalid(`The plan "${planId}" was made for another call or another state`, subject, {
      differs: ["digest"],
    });
  }
  const age = now - timeOfPlan(planId);
  if (age >= LIFE_MS || age < -CLOCK_STEP_MS) {
    const status = age >= LIFE_MS ? "expired" : "clock_moved";
    throw invalid(`The plan "${planId}" ${WORTHLESS[status]}`, subject, { differs: [status] });
  }
}

/** When a plan was made, in milliseconds: the first ten digits of its ULID. */
function timeOfPlan(planId: string): number {
  const digits = [...planId.slice("plan-".length, "plan-".length + 10)];
  return digits.reduce((time, digit) => time * 32 + ULID_DIGITS.indexOf(digit), 0);
}

/**
 * Whether a script on the command line has confirmed by typing the name of a thing that hvlab manages. One name never
 * stands for several.
 */
export function confirmsByName(
  tool: Tool,
  args: JsonObject,
  vms: readonly Vm[],
  confirm: string,
): boolean {
  const [vm, ...others] = vms;
  if (vm !== undefined) return others.length === 0 && vm.managed && confirm === vm.name;
  const target = targetText(tool, args);
  return target !== undefined && confirm === target;
}

/**
 * The failure of a call that needs a token and has none; its hint is the call that makes one. The command line puts its
 * own words in that place.
 */
export function planRequired(tool: Tool, args: JsonObject): HvError {
  const call = `hv_plan ${JSON.stringify({ tool: `hv_${tool.name}`, args })}`;
  return new HvError("hv.plan_required", `"${tool.name}" (class ${tool.class}) needs a plan token`, {
    hint: `Make one with ${call} and pass its "confirm"`,
    context: { tool: tool.name, make_plan: call },
  });
}

function digestOf(subject: PlanSubject): Promise<string> {
  return sha256Hex(canonicalJson(subject));
}

function differences(kept: JsonObject, subject: PlanSubject): string[] {
  const parts: (keyof PlanSubject)[] = ["tool", "args", "target", "fingerprint"];
  const differing = parts.filter((part) => canonicalJson(kept[part]) !== canonicalJson(subject[part]));
  // Two tools have arguments of their own, so that nothing else about the calls can be compared.
  if (differing.includes("tool")) return ["tool"];
  if (!differing.includes("args")) {
    return differing.map((part) => part === "fingerprint" ? "state of the target" : part);
  }
  const before = isPlainObject(kept.args) ? kept.args : {};
  const fields = [...new Set([...Object.keys(before), ...Object.keys(subject.args)])];
  return fields.filter((field) =>
    canonicalJson(before[field] ?? null) !== canonicalJson(subject.args[field] ?? null)
  )
    .map((field) => `argument "${field}"`);
}

/** The one thing that a tool without a `vm` argument acts on: its first positional, as typed. */
function targetText(tool: Tool, args: JsonObject): string | undefined {
  const [field] = tool.positional;
  const value = field === undefined ? undefined : args[field];
  return typeof value === "string" ? value : undefined;
}

function invalid(message: string, subject: PlanSubject, context: JsonObject): HvError {
  return new HvError("hv.plan_invalid", message, {
    hint: "Make a new plan for exactly this call and look at its preview",
    context: { tool: subject.tool, target: subject.target, ...context },
  });
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
