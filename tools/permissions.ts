/** The one permission list, as scripts and tests pass it to Deno. */

const FILE = new URL("./permissions.txt", import.meta.url);

/** The flags of `tools/permissions.txt`, one string each. */
export function readPermissionFlags(): string[] {
  return Deno.readTextFileSync(FILE).split(/\r?\n/).filter((line) => line !== "");
}

/** The names that one flag lists: `namesOf(flags, "run")` reads `--allow-run=a,b`. */
export function namesOf(flags: readonly string[], kind: string): string[] {
  const flag = flags.find((candidate) => candidate.startsWith(`--allow-${kind}=`));
  return flag === undefined ? [] : flag.slice(flag.indexOf("=") + 1).split(",");
}
