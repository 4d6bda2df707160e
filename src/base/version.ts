/** The program's own version, as `deno.json` states it. */

import manifest from "../../deno.json" with { type: "json" };

/** For example `0.1.0`. */
export const VERSION: string = manifest.version;
