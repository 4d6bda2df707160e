/** The arguments of the host's OpenSSH client, and what its words mean. */

import { HvError } from "../../base/errors.ts";

/** The programs of OpenSSH that hvlab starts. */
export const SSH = "ssh";
export const SSH_KEYGEN = "ssh-keygen";

/** Names inside a VM's private SSH folder, in which `ssh` runs: relative names need no escaping in its options. */
export const SSH_FILES = {
  key: "id_ed25519",
  knownHosts: "known_hosts",
  askPassword: "ask_password",
} as const;

/** The variable in which `ssh`, and nobody else, finds the password. */
export const PASSWORD_VARIABLE = "HVLAB_SSH_PASSWORD";

/** How long a server may take to answer at all. */
const CONNECT_LIMIT_S = 10;
/** A shared connection ends by itself this long after its last use, so that nothing of a killed hvlab stays. */
const LINGER_S = 10;

/** One connection to a guest. */
export interface SshTarget {
  hostname: string;
  port: number;
  user: string;
  /** The name under which the guest's host keys are pinned. */
  alias: string;
  /** Whether the guest's host keys are known; otherwise the first one that is seen is pinned. */
  pinned: boolean;
  /** Whether the login is by password; by key otherwise. */
  usesPassword: boolean;
  /** The socket of a connection that commands share. */
  control?: string;
}

/** The options and the destination, without a command. */
export function sshArguments(target: SshTarget): string[] {
  const { hostname, port, user, alias, pinned, usesPassword, control } = target;
  const options = {
    IdentityFile: SSH_FILES.key,
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    UserKnownHostsFile: SSH_FILES.knownHosts,
    GlobalKnownHostsFile: "none",
    HostKeyAlias: alias,
    StrictHostKeyChecking: pinned ? "yes" : "accept-new",
    CheckHostIP: "no",
    UpdateHostKeys: "no",
    HashKnownHosts: "no",
    ConnectTimeout: String(CONNECT_LIMIT_S),
    ServerAliveInterval: "15",
    ServerAliveCountMax: "4",
    LogLevel: "ERROR",
    ClearAllForwardings: "yes",
    // A refused password must not be hidden by a key that opens too.
    ...(usesPassword
      ? {
        PubkeyAuthentication: "no",
        PreferredAuthentications: "password,keyboard-interactive",
        NumberOfPasswordPrompts: "1",
      }
      : { PreferredAuthentications: "publickey", BatchMode: "yes" }),
    ...(control === undefined
      ? { ControlPath: "none" }
      : { ControlPath: control, ControlMaster: "auto", ControlPersist: String(LINGER_S) }),
  };
  return [
    ...["-F", "none"],
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    ...["-p", String(port), "-l", user, "--", hostname],
  ];
}

/** Why `ssh` ended before the guest's shell began, in the codes of hvlab. `words` is what it said. */
export function loginFailure(
  words: string,
  code: number | null,
  { user, usesPassword }: Pick<SshTarget, "user" | "usesPassword">,
): HvError {
  const reason = words.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "").at(-1) ?? "";
  const context = { user, reason };
  if (/host key verification failed|host identification has changed/i.test(words)) {
    return new HvError("hv.guest_identity", "Another machine answered, or the guest has a new host key", {
      hint: "Look at the guest; its agent can vouch for a new key, else remove the VM's known_hosts file",
      context,
    });
  }
  if (/permission denied|too many authentication failures/i.test(words)) {
    const tried = usesPassword ? "that password" : "the key of hvlab";
    return new HvError("hv.guest_auth", `The guest refuses "${user}" with ${tried}`, {
      hint: "Name an account with --user and --password-from-env, or store one with `hvlab guest credential`",
      context,
    });
  }
  if (code !== SSH_FAILURE) {
    return new HvError("hv.unsupported", "The guest has no /bin/sh, which running programs over SSH needs", {
      hint: "SSH reaches Linux guests; use PowerShell Direct for Windows",
      context: { ...context, exit_code: code },
    });
  }
  return new HvError(
    "hv.guest_not_ready",
    `The guest's SSH server does not answer: ${reason || "no reason given"}`,
    {
      hint: "Wait with `hvlab vm wait --until login`; the guest needs an SSH server on port 22",
      context,
    },
  );
}

/** What `ssh` ends with when something of its own went wrong. */
export const SSH_FAILURE = 255;
