/** Giving a Linux guest an identity of its own. Clones of one template, and VMs of one image, begin with the same. */

import { HvError } from "../../base/errors.ts";
import type { GuestChannel } from "../../guest/channel.ts";

/**
 * Sets the host name, a new machine id and new SSH host keys, each where the guest has such a thing. Arguments: host
 * name, machine id. Prints what it renewed, a word each.
 */
const RENEW = `
hostname "$1" || exit 1
echo hostname
[ ! -e /etc/hostname ] || printf '%s\\n' "$1" >/etc/hostname || exit 1
for hv_file in /etc/machine-id /var/lib/dbus/machine-id; do
  [ -f "$hv_file" ] && [ ! -L "$hv_file" ] || continue
  printf '%s\\n' "$2" >"$hv_file" || exit 1
  echo machine-id
done
if [ -d /etc/ssh ] && command -v ssh-keygen >/dev/null; then
  rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub
  ssh-keygen -A >/dev/null || exit 1
  echo ssh
  ! command -v systemctl >/dev/null || systemctl try-restart ssh sshd >/dev/null 2>&1 || true
fi
if [ -f /etc/dropbear/host_key ] && command -v dropbearkey >/dev/null; then
  rm -f /etc/dropbear/host_key
  dropbearkey -t ed25519 -f /etc/dropbear/host_key >/dev/null 2>&1 || exit 1
  echo dropbear
  ! command -v killall >/dev/null || killall dropbear 2>/dev/null || true
fi
`;

const LABEL_LIMIT = 63;

/** A VM's name as a host name: letters, digits and dashes; `sandbox` when nothing of it is left. */
export function hostNameOf(name: string): string {
  const label = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, LABEL_LIMIT).replace(/^-+|-+$/g, "");
  return label === "" ? "sandbox" : label;
}

/** Renews a guest's identity. Throws `hv.job_failed` when the guest refuses a part of it. */
export async function renewIdentity(channel: GuestChannel, name: string, signal: AbortSignal): Promise<void> {
  const machineId = crypto.randomUUID().replaceAll("-", "");
  const said: Uint8Array[] = [];
  const sinks = {
    stdout: () => Promise.resolve(),
    stderr: (bytes: Uint8Array) => Promise.resolve(void said.push(bytes.slice())),
  };
  const argv = ["/bin/sh", "-c", RENEW, "hvlab", hostNameOf(name), machineId];
  const { exit_code, signal: ended } = await channel.exec({ argv }, sinks, signal);
  if (exit_code === 0) return;
  const words = said.map((bytes) => new TextDecoder().decode(bytes)).join("").trim();
  throw new HvError(
    "hv.job_failed",
    `The identity of "${name}" could not be renewed${words && `: ${words}`}`,
    {
      hint: "Leave out --fresh-identity, or make /etc writable in the guest",
      context: { exit_code, signal: ended, guest_stderr: words },
    },
  );
}
