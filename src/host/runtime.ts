/** What runs this program. */

/** Versions of the runtime, as `hvlab version` shows them. */
export function runtimeVersions(): { deno: string; v8: string; typescript: string } {
  return { ...Deno.version };
}
