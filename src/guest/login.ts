/** Whom to log in as in a guest, and where the password lies. The password itself is read where it is needed, and kept nowhere. */

import { HvError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";

/** Where a password lies: a variable of our own environment, or what `guest credential` stored under a key. */
export type SecretPlace = { kind: "variable"; name: string } | { kind: "stored"; key: string };

export interface GuestLogin {
  user: string;
  /** Absent for who logs in by key. */
  password?: SecretPlace;
}

/** The variable that holds the password unless `HVLAB_GUEST_PASSWORD_ENV` names another. */
const USUAL_VARIABLE = "HVLAB_GUEST_PASSWORD";

/** The login that the environment gives; `undefined` when it names nobody. */
export function readLogin({ environment }: Pick<Host, "environment">): GuestLogin | undefined {
  const user = environment.get("HVLAB_GUEST_USER");
  if (user === undefined) return undefined;
  const name = environment.get("HVLAB_GUEST_PASSWORD_ENV") ?? USUAL_VARIABLE;
  return isSet({ environment }, name) ? { user, password: { kind: "variable", name } } : { user };
}

/** Reads a password from a variable; throws `hv.guest_auth` when there is none. */
export function readPassword({ environment }: Pick<Host, "environment">, name: string): string {
  const password = environment.get(name);
  if (password !== undefined) return password;
  throw new HvError("hv.guest_auth", `There is no password for the guest in the variable "${name}"`, {
    hint: `Set ${name}, or name another variable with --password-from-env`,
    context: { variable: name },
  });
}

function isSet({ environment }: Pick<Host, "environment">, name: string): boolean {
  return environment.get(name) !== undefined;
}
