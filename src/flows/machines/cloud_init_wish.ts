/** What cloud-init is to be told, as tools take it: files of this host. */

import { HvError } from "../../base/errors.ts";
import type { CloudInitSpec } from "../../drivers/cloud_init.ts";
import type { Host } from "../../host/host.ts";

/** The fields as they were given. */
export interface CloudInitWish {
  user_data?: string | undefined;
  ssh_key: readonly string[];
  host_name?: string | undefined;
}

/** More is no use: cloud-init itself takes no more from most clouds. */
const USER_DATA_BYTES = 1024 * 1024;
const KEY_BYTES = 64 * 1024;

/** How each form of user data begins that cloud-init knows; it passes over all others without a word. */
const BEGINNINGS = [
  ...["#cloud-config", "#!", "#include", "#cloud-boothook", "#part-handler", "#upstart-job"],
  ...["## template:", "Content-Type:", "MIME-Version:", "From "],
];
const GZIP = [0x1f, 0x8b];

/** A public key as OpenSSH writes it: the kind, the key, and words about it. */
const PUBLIC_KEY = /^(ssh-[a-z0-9@.-]+|ecdsa-sha2-[a-z0-9-]+|sk-[a-z0-9@.-]+) [A-Za-z0-9+/]+=*( .*)?$/;

/** Reads and checks the files; `undefined` when nothing was given. Throws `hv.usage` for what cloud-init would not take. */
export async function readCloudInit(
  host: Host,
  { user_data, ssh_key, host_name }: CloudInitWish,
): Promise<CloudInitSpec | undefined> {
  if (user_data === undefined && ssh_key.length === 0 && host_name === undefined) return undefined;
  const keys: string[] = [];
  for (const path of ssh_key) keys.push(...readKeys(path, await readBounded(host, path, KEY_BYTES)));
  const bytes = user_data === undefined ? undefined : await readBounded(host, user_data, USER_DATA_BYTES);
  if (bytes !== undefined && user_data !== undefined) refuseUnknown(user_data, bytes);
  return {
    ...(bytes === undefined ? {} : { user_data: bytes }),
    ssh_keys: keys,
    ...(host_name === undefined ? {} : { host_name }),
  };
}

async function readBounded(host: Host, path: string, limit: number): Promise<Uint8Array> {
  const facts = await host.files.stat(path, { follow: true });
  if (facts?.kind !== "file") {
    const code = facts === undefined ? "hv.not_found" : "hv.usage";
    throw new HvError(code, facts === undefined ? `There is no file "${path}"` : `"${path}" is no file`, {
      hint: "Check the path",
      context: { path },
    });
  }
  if (facts.size_bytes > limit) {
    throw new HvError("hv.usage", `"${path}" has ${facts.size_bytes} bytes, and at most ${limit} are taken`, {
      hint: "Let the guest fetch what is large",
      context: { path, found: facts.size_bytes, limit },
    });
  }
  using file = host.files.open(path);
  return file.read(0, limit);
}

function refuseUnknown(path: string, bytes: Uint8Array): void {
  const text = new TextDecoder().decode(bytes.subarray(0, 64));
  const isKnown = BEGINNINGS.some((beginning) => text.startsWith(beginning)) ||
    GZIP.every((byte, at) => bytes[at] === byte);
  if (isKnown) return;
  throw new HvError("hv.usage", `cloud-init would pass over "${path}": its first line names no form`, {
    hint: "Begin it with #cloud-config, or with #! for a script",
    context: { path, found: text.split("\n")[0] ?? "" },
  });
}

function readKeys(path: string, bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/).map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length > 0 && lines.every((line) => PUBLIC_KEY.test(line))) return lines;
  const isPrivate = lines.some((line) => line.includes("PRIVATE KEY"));
  throw new HvError("hv.usage", `"${path}" is ${isPrivate ? "a private key" : "no public SSH key"}`, {
    hint: isPrivate ? "Name the public one, which ends in .pub" : "Name a file like ~/.ssh/id_ed25519.pub",
    context: { path },
  });
}
