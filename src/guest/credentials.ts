/**
 * Passwords of guests. They lie in a variable of our environment, in the desktop's secret store, or in a file that
 * only this user may read; they are never an argument of a program, and stand in no log, record or error.
 */

import { HvError } from "../base/errors.ts";
import { isPlainObject, parseJson } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import { type GuestLogin, readPassword } from "./login.ts";

/** The program of libsecret that keeps passwords in the desktop's own store. */
export const SECRET_TOOL = "secret-tool";
const FILE = "credential.json";
const PRIVATE_FOLDER = 0o700;

/** Where a stored password lies. */
export type StoredIn = "libsecret" | "file";

interface StoredCredential {
  user: string;
  stored_in: StoredIn;
  /** Only in a file of its own. */
  password?: string;
}

/** Stores the login of a guest in its private folder, and its password in the desktop's store where there is one. */
export async function storeCredential(
  host: Host,
  folder: string,
  key: string,
  { user, password }: { user: string; password: string },
  signal: AbortSignal,
): Promise<StoredIn> {
  await host.files.makeFolder(folder, { mode: PRIVATE_FOLDER });
  const stored_in = await putIntoStore(host, key, user, password, signal) ? "libsecret" : "file";
  const record: StoredCredential = { user, stored_in, ...(stored_in === "file" ? { password } : {}) };
  await host.files.writeAtomically(joinPath(folder, FILE), JSON.stringify(record));
  return stored_in;
}

/** Forgets a stored login. Answers whether there was one. */
export async function forgetCredential(
  host: Host,
  folder: string,
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  const stored = await readStored(host, folder);
  if (stored === undefined) return false;
  if (stored.stored_in === "libsecret") {
    await host.processes.run(SECRET_TOOL, ["clear", ...attributes(key, stored.user)], { signal });
  }
  await host.files.remove(joinPath(folder, FILE));
  return true;
}

/** The login that was stored for a guest; `undefined` when there is none. */
export async function readStoredLogin(
  host: Host,
  folder: string,
  key: string,
): Promise<GuestLogin | undefined> {
  const stored = await readStored(host, folder);
  return stored === undefined ? undefined : { user: stored.user, password: { kind: "stored", key } };
}

/** Reads the password of a login; `undefined` for who has none. Throws `hv.guest_auth` when it is gone. */
export async function readSecret(
  host: Host,
  folder: string,
  { user, password }: GuestLogin,
): Promise<string | undefined> {
  if (password === undefined) return undefined;
  if (password.kind === "variable") return await readPassword(host, password.name);
  const stored = await readStored(host, folder);
  const found = stored?.stored_in === "libsecret" ? await lookUp(host, password.key, user) : stored?.password;
  if (found !== undefined && found !== "") return found;
  throw new HvError("hv.guest_auth", `The stored password of "${user}" cannot be read`, {
    hint: "Store it again with `hvlab guest credential`",
    context: { user },
  });
}

async function readStored(host: Host, folder: string): Promise<StoredCredential | undefined> {
  const path = joinPath(folder, FILE);
  const text = await host.files.readTextIfPresent(path);
  if (text === undefined) return undefined;
  const value = parse(text);
  const { user, stored_in, password } = value;
  if (typeof user === "string" && (stored_in === "libsecret" || stored_in === "file")) {
    return { user, stored_in, ...(typeof password === "string" ? { password } : {}) };
  }
  throw new HvError("hv.io", `"${path}" is no stored login`, {
    hint: "Store it again with `hvlab guest credential`",
    context: { path },
  });
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
async function putIntoStore(
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
