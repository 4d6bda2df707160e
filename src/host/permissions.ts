/** Giving up what a command does not need. */

/** Kinds of permission that can be dropped as a whole. */
export type PermissionKind = "run" | "net" | "env" | "sys" | "write";

export interface Permissions {
  /**
   * Drops whole kinds for the rest of this process's life. Used once, before a command that only reads files;
   * a server never does it, since a revoke cannot be taken back.
   */
  drop(kinds: readonly PermissionKind[]): void;
  /** Whether a program may be started under this name or path. */
  canRun(program: string): boolean;
}

export const denoPermissions: Permissions = {
  drop(kinds) {
    for (const name of kinds) Deno.permissions.revokeSync({ name });
  },
  canRun(program) {
    return Deno.permissions.querySync({ name: "run", command: program }).state === "granted";
  },
};
