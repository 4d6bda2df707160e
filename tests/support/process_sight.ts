/** Whether this machine tells of other processes; a Windows under Wine does not. */

import { openDenoHost } from "../../src/host/deno_host.ts";

/** Why tests that need to see other processes are skipped; `undefined` where they run. */
export const NO_SIGHT: string | undefined = await openDenoHost().processes.isRunning(Deno.pid).then(
  () => undefined,
  (error) => `other processes cannot be seen here: ${error instanceof Error ? error.message : String(error)}`,
);
