/**
 * The bug check with which Windows crashed, out of Hyper-V's crash registers: five numbers of 64 bits, the code first.
 */

import { type ErrorCode, HvError } from "../../../base/errors.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { objectsIn, textIn } from "../monitor/answers.ts";
import type { QmpSession } from "../monitor/qmp.ts";

/** A bug check as text: the code in its usual eight digits, the parameters in as many as they need. */
export interface BugCheck {
  code: string;
  /** Four; `null` stands for one that was not told. */
  parameters: (string | null)[];
}

/** Only the processor that crashed knows; looking at all of a large machine would take longer than it is worth. */
const LOOKED_AT = 64;

/** QEMU refuses the question for a processor that has not crashed; an old one does not know it. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["hv.job_failed", "hv.unsupported"]);

const CODE_DIGITS = 8;
const PARAMETERS = ["arg2", "arg3", "arg4", "arg5"];

/** What QEMU's words about a crash say of a bug check; `undefined` when the guest was no Windows. */
export function bugCheckIn(crash: unknown): BugCheck | undefined {
  if (!isPlainObject(crash) || crash.type !== "hyper-v") return undefined;
  const code = asHexadecimal(crash.arg1);
  if (code === null) return undefined;
  return {
    code: `0x${code.slice(2).padStart(CODE_DIGITS, "0")}`,
    parameters: PARAMETERS.map((name) => asHexadecimal(crash[name])),
  };
}

/** The bug check that a processor of a crashed guest keeps; `undefined` when none keeps any. */
export async function readBugCheck(session: QmpSession): Promise<BugCheck | undefined> {
  const processors = objectsIn(await askIfKnown(session, "query-cpus-fast"));
  for (const processor of processors.slice(0, LOOKED_AT)) {
    const path = textIn(processor, "qom-path");
    if (path === undefined) continue;
    const found = bugCheckIn(await askIfKnown(session, "qom-get", { path, property: "crash-information" }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The bug check as a sentence goes on with it: its code, its name and its parameters. */
export async function describeBugCheck({ code, parameters }: BugCheck): Promise<string> {
  // The tables take longer to load than a look at a machine.
  const { nameBugcheck } = await import("../../../dump/bugchecks/catalogue.ts");
  const name = await nameBugcheck(Number(code));
  const values = parameters.map((value) => value ?? "not told").join(", ");
  return `${code}${name === null ? "" : ` ${name}`} (${values})`;
}

/** A number, or one that was too long for a JSON number and is text already. */
function asHexadecimal(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
    return `0x${value.toString(16)}`;
  }
  return typeof value === "string" && /^0x[0-9a-f]+$/.test(value) ? value : null;
}

async function askIfKnown(session: QmpSession, name: string, args?: JsonObject): Promise<JsonValue> {
  try {
    return await session.command(name, args);
  } catch (error) {
    if (error instanceof HvError && REFUSALS.has(error.code)) return null;
    throw error;
  }
}
