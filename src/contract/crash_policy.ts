/** What is done when a guest crashes during a call. */

import * as z from "zod/mini";

/**
 * `stop`: the call fails, nothing else. `collect`: the machine's memory is kept as a core, with its console. `triage`:
 * that, and the failure says what happened and where.
 */
export const CrashPolicy = z.enum(["stop", "collect", "triage"]);
export type CrashPolicy = z.infer<typeof CrashPolicy>;
