/** The key with which hvlab logs in to one guest, and the guest's own keys. */

import { HvError } from "../../base/errors.ts";
import { folderOf, joinPath } from "../../base/paths.ts";
import { BoundedBytes } from "../../base/bounded_bytes.ts";
import type { Host } from "../../host/host.ts";
import type { GuestChannel } from "../channel.ts";
import { PASSWORD_VARIABLE, SSH_FILES, SSH_KEYGEN } from "./client.ts";

const PRIVATE_FOLDER = 0o700;
const PRIVATE_PROGRAM = 0o700;
const WORDS_KEPT = { head: 16 * 1024, tail: 1024 };

/** What `ssh` runs when it wants a password. The password comes in its environment and stands nowhere else. */
const ASK_PASSWORD = `#!/bin/sh\nprintf '%s\\n' "$${PASSWORD_VARIABLE}"\n`;

/**
 * Puts a key among those of a user and prints the guest's host keys. Arguments: user, public key or nothing.
 */
const INTRODUCE = `
id -u "$1" >/dev/null 2>&1 || exit 3
eval "hv_home=~$1"
hv_folder=$hv_home/.ssh
hv_file=$hv_folder/authorized_keys
umask 077
if [ -n "$2" ] && [ ! -d "$hv_folder" ]; then mkdir -p "$hv_folder" && chown "$1" "$hv_folder" || exit 4; fi
if [ -n "$2" ] && ! grep -qxF "$2" "$hv_file" 2>/dev/null; then
  [ ! -s "$hv_file" ] || [ -z "$(tail -c 1 "$hv_file")" ] || echo >>"$hv_file"
  printf '%s\\n' "$2" >>"$hv_file" && chown "$1" "$hv_file" || exit 4
fi
for hv_key in /etc/ssh/ssh_host_*_key.pub; do
  if [ -f "$hv_key" ]; then cat "$hv_key"; fi
done
for hv_key in /etc/dropbear/*key; do
  if [ -f "$hv_key" ] && command -v dropbearkey >/dev/null; then dropbearkey -y -f "$hv_key" 2>/dev/null; fi
done
exit 0
`;
const NO_USER = 3;

/** Makes the folder, the key and the password program unless they are there. Answers the public key. */
export async function prepareSshFolder(host: Host, folder: string, signal: AbortSignal): Promise<string> {
  const { files } = host;
  const publicKey = joinPath(folder, `${SSH_FILES.key}.pub`);
  const known = await files.readTextIfPresent(publicKey);
  if (known !== undefined) return known.trim();
  // A VM that was removed meanwhile must not come back as an empty folder.
  for (const one of [folderOf(folder), folder]) {
    await files.makeFolder(one, { mode: PRIVATE_FOLDER, parents: false });
  }
  using _lock = await host.locks.take(joinPath(folder, "lock"), signal, { folderMustExist: true });
  const made = await files.readTextIfPresent(publicKey);
  if (made !== undefined) return made.trim();
  const ask = joinPath(folder, SSH_FILES.askPassword);
  using writer = await files.create(ask, { overwrite: true, mode: PRIVATE_PROGRAM });
  await writer.write(new TextEncoder().encode(ASK_PASSWORD));
  await makeKey(host, folder, signal);
  return (await files.readText(publicKey)).trim();
}

/** Under a passing name first, so that a key that is there is whole; the public one comes last. */
async function makeKey(host: Host, folder: string, signal: AbortSignal): Promise<void> {
  const passing = joinPath(folder, `new-${crypto.randomUUID().slice(0, 8)}`);
  const key = joinPath(folder, SSH_FILES.key);
  const words = ["-q", "-t", "ed25519", "-N", "", "-C", "hvlab", "-f", passing];
  const { code, stderr } = await host.processes.run(SSH_KEYGEN, words, { signal });
  if (code !== 0) {
    throw new HvError("hv.unavailable", "Cannot make a key for the guest: ssh-keygen failed", {
      hint: "Look at what it said in the context",
      context: { exit_code: code, reason: new TextDecoder().decode(stderr).trim() },
    });
  }
  await host.files.rename(passing, key);
  await host.files.rename(`${passing}.pub`, `${key}.pub`);
}

/** Who is introduced to the guest, and by whom. */
export interface Introduction {
  sponsor: GuestChannel;
  user: string;
  /** The key that opens from now on; `undefined` for who logs in by password. */
  publicKey: string | undefined;
  alias: string;
}

/**
 * Has another, privileged way into the guest put our key among a user's and tell the guest's host keys, which are
 * pinned. Answers whether the guest told any.
 */
export async function introduce(
  host: Host,
  folder: string,
  { sponsor, user, publicKey, alias }: Introduction,
  signal: AbortSignal,
): Promise<boolean> {
  const out = new BoundedBytes(WORDS_KEPT);
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await sponsor.exec(
    { argv: ["/bin/sh", "-c", INTRODUCE, "hvlab", user, publicKey ?? ""] },
    {
      stdout: (bytes) => Promise.resolve(out.push(bytes)),
      stderr: (bytes) => Promise.resolve(err.push(bytes)),
    },
    signal,
  );
  if (exit_code === NO_USER) {
    throw new HvError("hv.guest_auth", `There is no user "${user}" in the guest`, {
      hint: "Name another with --user",
      context: { user },
    });
  }
  if (exit_code !== 0) {
    throw new HvError("hv.guest_auth", `The key for "${user}" could not be put into the guest`, {
      hint: "Look whether the user's home can be written",
      context: { user, reason: err.toText().text.trim() },
    });
  }
  const keys = out.toText().text.split("\n").filter((line) => /^(ssh|ecdsa|sk)-\S+ \S+/.test(line));
  const lines = keys.map((line) => `${alias} ${line.split(" ").slice(0, 2).join(" ")}\n`);
  if (lines.length > 0) {
    await host.files.writeAtomically(joinPath(folder, SSH_FILES.knownHosts), lines.join(""));
  }
  return lines.length > 0;
}
