/** Whom a call logs in as in a guest. */

import { HvError } from "../../base/errors.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import { readStoredLogin } from "../../guest/credentials.ts";
import { type GuestLogin, passwordVariable, readPassword, userInEnvironment } from "../../guest/login.ts";
import type { Host } from "../../host/host.ts";

/** What a call says of its login. */
export interface LoginWish {
  user?: string | undefined;
  password_from_env?: string | undefined;
}

/**
 * Each field from the call, else from the environment; what neither names from what `guest credential` stored. Answers
 * `undefined` when nobody is named. Throws `hv.usage` for a password of nobody, and `hv.guest_auth` when the variable
 * that the call names is empty.
 */
export async function findLogin(
  host: Host,
  driver: Driver,
  vm: Vm,
  { user: wanted, password_from_env: named }: LoginWish,
): Promise<GuestLogin | undefined> {
  if (named !== undefined && await readPassword(host, named) === undefined) {
    throw new HvError("hv.guest_auth", `There is no password for the guest in the variable "${named}"`, {
      hint: `Set ${named} where hvlab is started`,
      context: { variable: named },
    });
  }
  const account = wanted ?? userInEnvironment(host);
  const folder = driver.guestFolder?.(vm.id);
  const stored = folder === undefined
    ? undefined
    : await readStoredLogin({ host, folder, key: vm.id, store: driver.secrets }, account);
  const user = account ?? stored?.user;
  if (user === undefined) {
    if (named === undefined) return undefined;
    throw new HvError("hv.usage", "A password was named, but nobody to log in as", {
      hint: "Name the account with --user",
      context: { password_from_env: named },
    });
  }
  if (named !== undefined) return { user, password: { kind: "variable", name: named } };
  const variable = passwordVariable(host);
  if (await readPassword(host, variable) !== undefined && user === (userInEnvironment(host) ?? user)) {
    return { user, password: { kind: "variable", name: variable } };
  }
  return stored?.user === user ? stored : { user };
}
