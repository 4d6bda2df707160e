/** What a call that finds a guest crashed says of the crash that was kept. */

import { HvError } from "../../base/errors.ts";
import { copyThroughJson } from "../../base/json.ts";
import type { KeptCrash } from "../../contract/crash_policy.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Host } from "../../host/host.ts";
import { quoteWord } from "../../host/quote_word.ts";

/** The failure with what the VM's policy has kept, as `crash` in its context and in its hint. A look that fails adds nothing. */
export async function tellKeptCrash(
  error: HvError,
  { id }: Vm,
  { crashes }: Pick<Driver, "crashes">,
  { os }: Pick<Host, "os">,
): Promise<HvError> {
  let kept: KeptCrash | undefined;
  try {
    kept = (await crashes?.kept(id))?.kept;
  } catch {
    return error;
  }
  if (kept === undefined) return error;
  const where = kept.core === undefined
    ? `What is kept of the crash lies in "${kept.folder}"`
    : `The crash is kept: hvlab dump triage ${quoteWord(kept.core, os)}`;
  const { code, message, hint, context, retryable } = error;
  return new HvError(code, message, {
    hint: hint === undefined ? where : `${hint}. ${where}`,
    context: { ...context, crash: copyThroughJson(kept) ?? {} },
    retryable,
    cause: error,
  });
}
