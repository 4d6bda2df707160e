/** Whom to log in as in a guest, and where the password lies. The password itself is read where it is needed, and kept nowhere. */

import type { Host } from "../host/host.ts";
import { readInherited } from "../host/inherited.ts";

/** Where a password lies: a variable of our own environment, or what `guest credential` stored under a key. */
export type SecretPlace = { kind: "variable"; name: string } | { kind: "stored"; key: string };

export interface GuestLogin {
  user: string;
  /** Absent for who logs in by key. */
  password?: SecretPlace;
}

/** The variable that holds the password unless `HVLAB_GUEST_PASSWORD_ENV` names another. */
const USUAL_VARIABLE = "HVLAB_GUEST_PASSWORD";

/** The user that the environment names. */
export function userInEnvironment({ environment }: Pick<Host, "environment">): string | undefined {
  return environment.get("HVLAB_GUEST_USER");
}

/** The variable of the password, as the environment names it. */
export function passwordVariable({ environment }: Pick<Host, "environment">): string {
  return environment.get("HVLAB_GUEST_PASSWORD_ENV") ?? USUAL_VARIABLE;
}

/** The login that the environment gives; `undefined` when it names nobody. */
export function readLogin(host: Pick<Host, "environment">): GuestLogin | undefined {
  const user = userInEnvironment(host);
  return user === undefined
    ? undefined
    : { user, password: { kind: "variable", name: passwordVariable(host) } };
}

/** Reads a password from a variable; `undefined` when it is not set or empty. */
export async function readPassword(host: Host, name: string): Promise<string | undefined> {
  return await readInherited(host, name) || undefined;
}
