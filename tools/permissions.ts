/** The one permission list, as scripts and tests pass it to Deno. */

const FILE = new URL("./permissions.txt", import.meta.url);

/** The two kinds of system that the list tells apart. */
export const SYSTEM_KINDS = ["posix", "windows"] as const;
export type SystemKind = typeof SYSTEM_KINDS[number];

/** The flags of `tools/permissions.txt`, one string each. A line that begins with a kind of system holds only there. */
export function readPermissionFlags(
  system: SystemKind = Deno.build.os === "windows" ? "windows" : "posix",
): string[] {
  return Deno.readTextFileSync(FILE).split(/\r?\n/).flatMap((line) => {
    const [, only = system, flag] = /^(?:(posix|windows) )?(--.*)$/.exec(line) ?? [];
    return flag !== undefined && only === system ? [flag] : [];
  });
}

/** The names that the flags of one kind list: `namesOf(flags, "run")` reads `--allow-run=a,b`. */
export function namesOf(flags: readonly string[], kind: string): string[] {
  const start = `--allow-${kind}=`;
  return flags.filter((flag) => flag.startsWith(start)).flatMap((flag) =>
    flag.slice(start.length).split(",")
  );
}
