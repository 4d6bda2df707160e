/**
 * Shared folders. Two ways lead into a guest, and what it can do is known only once it has booted: so a machine gets
 * both where the host has both, and the guest takes virtiofs before 9p, which is several times slower.
 */

import { BoundedBytes } from "../../base/bounded_bytes.ts";
import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { waitForAll } from "../../base/wait_for_all.ts";
import type { Share } from "../../contract/share.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { surroundChannel } from "../../guest/surround.ts";
import type { SharePlan } from "./launch/machine_plan.ts";
import { QEMU, type QemuContext } from "./context.ts";
import type { Helper } from "./launch/helpers.ts";
import type { VmRecord } from "./records.ts";
import type { RuntimeFolder } from "./runtime_folder.ts";

/** Where distributions keep virtiofsd: of QEMU up to 7, and of its successor. Only the first has been tried. */
const VIRTIOFSD_PLACES = ["/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd"];
const DEVICE_OF_9P = '"virtio-9p-pci"';
/**
 * This virtiofsd cannot refuse to write, so it serves a place that only it sees, at which the folder is mounted read-only.
 * The folder itself stays as it is: its own socket and lock may lie in it. Arguments: the place, the folder, then the
 * program to go on with.
 */
const READ_ONLY_VIEW =
  'mkdir -p "$1" && mount --bind "$2" "$1" && mount -o remount,bind,ro "$1" && shift 2 && exec "$@"';

/** What this host can share folders with. */
export interface ShareWays {
  /** The virtiofsd to use, or why there is none. */
  virtiofsd: { path: string } | { missing: string };
  /** Whether QEMU itself speaks 9p. */
  has9p: boolean;
}

/** The parts of a machine that share its folders. */
export interface Sharing {
  helpers: Helper[];
  plans: SharePlan[];
}

/** Looks what this host has. */
export async function findShareWays(context: QemuContext, signal: AbortSignal): Promise<ShareWays> {
  const [virtiofsd, has9p] = await waitForAll([findVirtiofsd(context.host), speaks9p(context.host, signal)]);
  return { virtiofsd, has9p };
}

async function speaks9p({ processes }: QemuContext["host"], signal: AbortSignal): Promise<boolean> {
  if (await processes.find(QEMU) === undefined) return false;
  const { stdout } = await processes.run(QEMU, ["-device", "help"], { signal });
  return new TextDecoder().decode(stdout).includes(DEVICE_OF_9P);
}

async function findVirtiofsd(host: QemuContext["host"]): Promise<ShareWays["virtiofsd"]> {
  if (host.os !== "linux") return { missing: "virtiofsd runs on Linux only" };
  if (host.machine.userId() !== 0) return { missing: "virtiofsd needs root" };
  for (const path of VIRTIOFSD_PLACES) {
    if ((await host.files.stat(path, { follow: true }))?.kind === "file") return { path };
  }
  return { missing: `virtiofsd is not installed (looked at ${VIRTIOFSD_PLACES.join(", ")})` };
}

/** What the host lacks, in words; empty when it has both ways. */
export function lackOf({ virtiofsd, has9p }: ShareWays): string[] {
  return [
    ...("missing" in virtiofsd ? [virtiofsd.missing] : []),
    ...(has9p ? [] : ["this QEMU has no 9p"]),
  ];
}

/** What a VM's shares need at a start. Throws `hv.unsupported` when the host has no way, `hv.io` when a folder is gone. */
export async function planShares(
  context: QemuContext,
  record: VmRecord,
  runtime: RuntimeFolder,
  signal: AbortSignal,
): Promise<Sharing> {
  const { shares = [] } = record;
  if (shares.length === 0) return { helpers: [], plans: [] };
  const ways = await needShareWays(context, signal);
  const sharing: Sharing = { helpers: [], plans: [] };
  for (const [index, share] of shares.entries()) {
    if ((await context.host.files.stat(share.host))?.kind !== "folder") {
      throw new HvError("hv.io", `The shared folder "${share.host}" of "${record.name}" is gone`, {
        hint: "Bring the folder back",
        context: { vm: record.id, path: share.host },
      });
    }
    const socket = runtime.share(index);
    const isServed = "path" in ways.virtiofsd;
    if ("path" in ways.virtiofsd) {
      const log = joinPath(context.state.vm(record.id), `share-${index}.log`);
      sharing.helpers.push(virtiofsdHelper(ways.virtiofsd.path, share, socket, log));
    }
    sharing.plans.push({
      tag: tagOf(index),
      ...(isServed ? { socket } : {}),
      ...(ways.has9p ? { folder: share.host } : {}),
      read_only: share.read_only,
    });
  }
  return sharing;
}

/** The ways of this host. Throws `hv.unsupported` when there is none. */
export async function needShareWays(context: QemuContext, signal: AbortSignal): Promise<ShareWays> {
  const ways = await findShareWays(context, signal);
  if ("path" in ways.virtiofsd || ways.has9p) return ways;
  throw new HvError("hv.unsupported", `This host cannot share folders: ${lackOf(ways).join("; ")}`, {
    hint: "Run: apt-get install qemu-system-common",
    context: { end: "host", missing: lackOf(ways) },
  });
}

function virtiofsdHelper(path: string, share: Share, socket: string, log: string): Helper {
  const view = `${socket}.view`;
  const args = [
    "-f",
    `--socket-path=${socket}`,
    ...["-o", `source=${escapeSource(share.read_only ? view : share.host)}`, "-o", "cache=auto"],
  ];
  const isolated = ["--mount", "--propagation", "private", "--"];
  const inView = ["/bin/sh", "-c", READ_ONLY_VIEW, "hvlab", view, share.host, path, ...args];
  return {
    purpose: `The program that shares "${share.host}" (virtiofsd)`,
    ...(share.read_only ? { program: "unshare", args: [...isolated, ...inView] } : { program: path, args }),
    socket,
    log,
  };
}

/** Its options are separated by commas; a backslash takes the next character as it is. */
export function escapeSource(path: string): string {
  return path.replaceAll(/[\\,]/g, (character) => `\\${character}`);
}

function tagOf(index: number): string {
  return `hvlab-share-${index}`;
}

/** Exit codes of the script that are its own. */
const NO_WAY = 65;
const NO_FOLDER = 66;
/**
 * Mounts what is not mounted yet. Arguments: tag, folder, and `ro` or `rw`, again for each share. Says on stderr what
 * each way came to.
 */
const MOUNT = `
while [ $# -ge 3 ]; do
  hv_done=
  while read -r hv_source hv_rest; do [ "$hv_source" = "$1" ] && hv_done=1; done </proc/mounts
  if [ -z "$hv_done" ]; then
    mkdir -p -- "$2" || exit ${NO_FOLDER}
    modprobe virtiofs 2>/dev/null
    if ! hv_words=$(mount -t virtiofs -o "$3" "$1" "$2" 2>&1); then
      modprobe 9pnet_virtio 2>/dev/null; modprobe 9p 2>/dev/null
      if ! hv_more=$(mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,$3" "$1" "$2" 2>&1); then
        printf 'virtiofs: %s; 9p: %s\\n' "$hv_words" "$hv_more" >&2
        exit ${NO_WAY}
      fi
    fi
  fi
  shift 3
done
`;
const WORDS_KEPT = { head: 2_048, tail: 2_048 };

/**
 * Mounts a VM's shares in its guest where they are not mounted. Throws `hv.unsupported` when the guest can mount
 * neither kind, with what is missing on which end.
 */
export async function mountShares(
  context: QemuContext,
  channel: GuestChannel,
  shares: readonly Share[],
  signal: AbortSignal,
): Promise<void> {
  const words = shares.flatMap(({ guest, read_only }, index) => [
    tagOf(index),
    guest,
    read_only ? "ro" : "rw",
  ]);
  const said = new BoundedBytes(WORDS_KEPT);
  const sinks = {
    stdout: () => Promise.resolve(),
    stderr: (bytes: Uint8Array) => Promise.resolve(said.push(bytes)),
  };
  const { exit_code } = await channel.exec(
    { argv: ["/bin/sh", "-c", MOUNT, "hvlab", ...words] },
    sinks,
    signal,
  );
  if (exit_code === 0) return;
  const guest = said.toText().text.trim();
  if (exit_code !== NO_WAY) {
    throw new HvError("hv.job_failed", `The guest could not make the folder of a share: ${guest}`, {
      hint: "Name a folder in the guest that can be made",
      context: { exit_code, guest_stderr: guest },
    });
  }
  const host = lackOf(await findShareWays(context, signal));
  const ends = [`in the guest ${guest}`, ...(host.length === 0 ? [] : [`on the host ${host.join(", ")}`])];
  throw new HvError("hv.unsupported", `The shared folders cannot be mounted: ${ends.join("; ")}`, {
    hint: "Use a guest kernel with virtiofs or 9p, or copy what it needs with --copy",
    context: { guest, host },
  });
}

/** A way into a guest in which its shares are there before anything is done. */
export function withShares(
  context: QemuContext,
  channel: GuestChannel,
  shares: readonly Share[],
): GuestChannel {
  return surroundChannel(channel, async (name, work, signal) => {
    if (name !== "ping") await mountShares(context, channel, shares, signal);
    return await work();
  });
}
