/**
 * Passwords of guests. They lie in a variable of our environment, in the operating system's secret store, or in a file that
 * only this user may read; they are never an argument of a program, and stand in no log, record or error.
 */

import { HvError } from "../base/errors.ts";
import { isPlainObject, parseJson } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import type { GuestFolder } from "./guest_folder.ts";
import { type GuestLogin, readPassword } from "./login.ts";

/** The program of libsecret that keeps passwords in the desktop's own store. */
export const SECRET_TOOL = "secret-tool";
const FILE = "credential.json";

/** Where a stored password lies. */
export type StoredIn = "libsecret" | "file" | "credential_manager";

/** The operating system's store where only a driver has a way to it. Throws `hv.unavailable` when it does not answer. */
export interface SecretStore {
  readonly name: StoredIn;
  write(key: string, user: string, secret: string, signal: AbortSignal): Promise<void>;
  /** `undefined` when there is none. */
  read(key: string, user: string, signal: AbortSignal): Promise<string | undefined>;
  /** One that is not there counts as removed. */
  remove(key: string, user: string, signal: AbortSignal): Promise<void>;
}

/** Where the logins of one guest are kept. */
export interface CredentialPlace {
  host: Host;
  folder: GuestFolder;
  /** What tells them from those of other guests in a store of all: the VM's id. */
  key: string;
  store?: SecretStore | undefined;
}

interface StoredCredential {
  user: string;
  stored_in: StoredIn;
  /** Only in a file of its own. */
  password?: string;
}

const LOOK_LIMIT_MS = 30_000;

/**
 * Stores a login of a guest; its password goes to the operating system's store where there is one. It becomes the login that
 * is used when none is named, and those of other users stay. Throws `hv.not_found` when the VM has been removed.
 */
export async function storeCredential(
  place: CredentialPlace,
  { user, password }: { user: string; password: string },
  signal: AbortSignal,
): Promise<StoredIn> {
  const { host, folder, key, store } = place;
  const others = (await readStored(place)).filter((stored) => stored.user !== user);
  await folder.make();
  let stored_in: StoredIn = "file";
  if (store !== undefined) {
    await store.write(key, user, password, signal);
    stored_in = store.name;
  } else if (await putIntoLibsecret(host, key, user, password, signal)) stored_in = "libsecret";
  await writeStored(place, [
    { user, stored_in, ...(stored_in === "file" ? { password } : {}) },
    ...others,
  ]);
  return stored_in;
}

/** Forgets a user's stored login, or all of them. Answers whether there was one. */
export async function forgetCredential(
  place: CredentialPlace,
  user: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { host, key, store } = place;
  const all = await readStored(place);
  const doomed = all.filter((stored) => user === undefined || stored.user === user);
  for (const stored of doomed) {
    if (stored.stored_in === "libsecret") {
      await host.processes.run(SECRET_TOOL, ["clear", ...attributes(key, stored.user)], { signal });
    } else if (stored.stored_in === store?.name) await store.remove(key, stored.user, signal);
  }
  if (doomed.length > 0) await writeStored(place, all.filter((stored) => !doomed.includes(stored)));
  return doomed.length > 0;
}

/** A user's stored login of a guest, or without a user the one that was stored last; `undefined` when there is none. */
export async function readStoredLogin(
  place: CredentialPlace,
  user?: string,
): Promise<GuestLogin | undefined> {
  const stored = (await readStored(place)).find((one) => user === undefined || one.user === user);
  return stored === undefined
    ? undefined
    : { user: stored.user, password: { kind: "stored", key: place.key } };
}

/** Reads the password of a login; `undefined` for who has none. Throws `hv.guest_auth` when it is gone. */
export async function readSecret(
  place: CredentialPlace,
  { user, password }: GuestLogin,
): Promise<string | undefined> {
  if (password === undefined) return undefined;
  const { host, store } = place;
  if (password.kind === "variable") return await readPassword(host, password.name);
  const stored = (await readStored(place)).find((one) => one.user === user);
  let found = stored?.password;
  if (stored?.stored_in === "libsecret") found = await lookUp(host, password.key, user);
  else if (stored !== undefined && stored.stored_in === store?.name) {
    found = await store.read(password.key, user, AbortSignal.timeout(LOOK_LIMIT_MS));
  }
  if (found !== undefined && found !== "") return found;
  throw new HvError("hv.guest_auth", `The stored password of "${user}" cannot be read`, {
    hint: "Store it again with `hvlab guest credential`",
    context: { user },
  });
}

async function readStored({ host, folder }: CredentialPlace): Promise<StoredCredential[]> {
  const path = joinPath(folder.path, FILE);
  const text = await host.files.readTextIfPresent(path);
  if (text === undefined) return [];
  const { logins } = parse(text);
  const stored = Array.isArray(logins) ? logins.flatMap(readOne) : [];
  if (Array.isArray(logins) && stored.length === logins.length) return stored;
  throw new HvError("hv.io", `"${path}" holds no stored logins`, {
    hint: "Remove it, and store them again with `hvlab guest credential`",
    context: { path },
  });
}

async function writeStored(
  { host, folder }: CredentialPlace,
  logins: readonly StoredCredential[],
): Promise<void> {
  const path = joinPath(folder.path, FILE);
  if (logins.length === 0) await host.files.remove(path);
  else await host.files.writeAtomically(path, JSON.stringify({ logins }));
}

function readOne(value: unknown): StoredCredential[] {
  if (!isPlainObject(value)) return [];
  const { user, stored_in, password } = value;
  const isKnown = stored_in === "libsecret" || stored_in === "file" || stored_in === "credential_manager";
  if (typeof user !== "string" || !isKnown) return [];
  return [{ user, stored_in, ...(typeof password === "string" ? { password } : {}) }];
}

/** The parser's own words could quote the password. */
function parse(text: string): Record<string, unknown> {
  try {
    const value = parseJson(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** False where there is no such program, or no store behind it. */
async function putIntoLibsecret(
  host: Host,
  key: string,
  user: string,
  password: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (host.os !== "linux" || await host.processes.find(SECRET_TOOL) === undefined) return false;
  const words = ["store", `--label=hvlab guest ${key}`, ...attributes(key, user)];
  const stdin = new TextEncoder().encode(password);
  const { code } = await host.processes.run(SECRET_TOOL, words, { stdin, signal });
  return code === 0 && await lookUp(host, key, user) === password;
}

async function lookUp(host: Host, key: string, user: string): Promise<string | undefined> {
  const { code, stdout } = await host.processes.run(SECRET_TOOL, ["lookup", ...attributes(key, user)]);
  return code === 0 ? new TextDecoder().decode(stdout) : undefined;
}

function attributes(key: string, user: string): string[] {
  return ["application", "hvlab", "guest", key, "user", user];
}
