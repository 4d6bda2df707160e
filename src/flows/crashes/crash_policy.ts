/** From the crash of a guest during a call to the call's answer. */

import { HvError, toHvError } from "../../base/errors.ts";
import { copyThroughJson, type JsonObject } from "../../base/json.ts";
import { joinPath } from "../../base/paths.ts";
import { formatBytes } from "../../base/units.ts";
import { renderTriage } from "../../debugger/triage/render.ts";
import type { KeptCrash } from "../../contract/crash_policy.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { Host } from "../../host/host.ts";
import { quoteWord } from "../../host/quote_word.ts";
import { CRASH_FILES, refuseTakenFolder } from "./crash_folder.ts";
import { isSilence } from "./guest_panic.ts";
import { type CrashKept, type CrashOptions, keepCrash } from "./keep_crash.ts";

/** What a policy needs to know, and where a crash is kept when the folder cannot take it. */
export interface AnswerOptions extends CrashOptions {
  readonly spare: string;
}

/** The failure with what was kept, and the triage as a page for a person. */
export interface CrashAnswer {
  readonly error: HvError;
  /** Null without a triage. */
  readonly page: string | null;
}

/**
 * Keeps the memory and the console of a crashed guest, and triages. Gives the failure with what was kept in its context
 * as `crash`, the triage itself in the place of its file; what could not be had stands there as `failure`, and the first
 * failure is never lost.
 */
export async function answerCrash(
  error: HvError,
  options: AnswerOptions,
  scope: CallScope,
): Promise<CrashAnswer> {
  const crash = await keepSomewhere(options, scope);
  const { triage } = crash;
  return { error: tell(error, crash, options.host), page: triage === null ? null : renderTriage(triage) };
}

interface CrashPlaced extends CrashKept {
  /** Why it is not where it was wanted. */
  readonly refused?: string;
}

/** The machine is gone after this call, so a folder that is taken meanwhile must not cost what it tells. */
async function keepSomewhere({ spare, ...options }: AnswerOptions, scope: CallScope): Promise<CrashPlaced> {
  const { host, folder } = options;
  const keepElsewhere = async (refused: string): Promise<CrashPlaced> => ({
    ...await keepCrash({ ...options, folder: spare }, scope),
    refused,
  });
  const problem = folder === spare ? undefined : await whyRefused(host, folder);
  if (problem !== undefined) return await keepElsewhere(problem);
  const crash = await keepCrash(options, scope);
  if (folder === spare || crash.kept.core !== undefined) return crash;
  const isAnothers = await host.files.stat(joinPath(folder, CRASH_FILES.core)) !== undefined;
  return isAnothers ? await keepElsewhere(crash.kept.failure ?? "It is taken") : crash;
}

async function whyRefused(host: Host, folder: string): Promise<string | undefined> {
  try {
    await refuseTakenFolder(host, folder);
    await host.files.makeFolder(folder);
    return undefined;
  } catch (thrown) {
    return toHvError(thrown).message;
  }
}

function tell(error: HvError, { kept, triage, refused }: CrashPlaced, { os }: Host): HvError {
  const { core, failure, folder } = kept;
  const hint = core === undefined
    ? `Its core could not be kept in "${folder}": ${failure}`
    : `Its core is kept${extent(kept)}: hvlab dump triage ${quoteWord(core, os)}`;
  const crash: JsonObject = {
    ...copyThroughJson(kept),
    ...(triage === null ? {} : { triage: copyThroughJson(triage) ?? {} }),
  };
  // What was unknown is known now: the guest was silent because it hung.
  const code = error.code === "hv.outcome_unknown" ? "hv.guest_crashed" : error.code;
  return new HvError(
    code,
    triage === null ? error.message : `${happened(error, triage)}: ${triage.summary}`,
    {
      hint: refused === undefined ? hint : `${refused}. ${hint}`,
      context: { ...error.context, crash },
      retryable: error.retryable,
      cause: error.cause ?? error,
    },
  );
}

/** How much of the memory the core holds, where not all. */
function extent({ memory }: KeptCrash): string {
  if (memory?.reduced !== true) return "";
  return `, with ${formatBytes(memory.kept_bytes)} of ${formatBytes(memory.of_bytes)} of memory`;
}

/** A guest that hung is told by where it was interrupted, which its triage blames nobody for. */
function happened(error: HvError, { stack }: DumpTriage): string {
  if (!isSilence(error)) return "The guest has crashed";
  const place = stack.find(({ symbol }) => symbol !== null);
  return place === undefined
    ? "The guest hung until it was interrupted"
    : `The guest hung in ${place.module ?? "?"}!${place.symbol} until it was interrupted`;
}
