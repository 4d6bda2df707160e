/** The bug check of a guest that has crashed, as its processor keeps it. */

import { type ErrorCode, HvError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { numberIn, objectsIn, textIn } from "../checkpoints/answers.ts";
import type { QmpSession } from "../monitor/qmp.ts";

/** Only the processor that crashed knows; looking at all of a large machine would take longer than it is worth. */
const LOOKED_AT = 64;

/** QEMU refuses the question for a processor that has not crashed; an old one does not know it. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["hv.job_failed", "hv.unsupported"]);

/** The code that Windows wrote into Hyper-V's crash registers, such as `0x139`; `undefined` when nobody did. */
export async function readBugCheck(session: QmpSession): Promise<string | undefined> {
  const processors = objectsIn(await askIfKnown(session, "query-cpus-fast"));
  for (const processor of processors.slice(0, LOOKED_AT)) {
    const path = textIn(processor, "qom-path");
    if (path === undefined) continue;
    const crash = await askIfKnown(session, "qom-get", { path, property: "crash-information" });
    if (textIn(crash, "type") === "hyper-v") return `0x${numberIn(crash, "arg1").toString(16)}`;
  }
  return undefined;
}

async function askIfKnown(session: QmpSession, name: string, args?: JsonObject): Promise<JsonValue> {
  try {
    return await session.command(name, args);
  } catch (error) {
    if (error instanceof HvError && REFUSALS.has(error.code)) return null;
    throw error;
  }
}
