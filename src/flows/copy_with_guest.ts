/** Copying a file or a folder between this host and a guest over the way that serves best for so much. */

import { HvError } from "../base/errors.ts";
import type { CopyResult } from "../contract/guest.ts";
import type { GuestChannel } from "../guest/channel.ts";
import { listFolder } from "../guest/folders/read_folder.ts";
import { type GuestEntry, lookAtGuestPath, setGuestTime } from "../guest/posix/folders.ts";
import { copyFromGuest, type CopyRequest, copyToGuest } from "./copy_files.ts";
import { type Copied, copyFolderFromGuest, copyFolderToGuest, type CopyScope } from "./copy_folders.ts";
import { type AccessWish, type GuestScope, useGuest } from "./use_guest.ts";

export type CopyContext = GuestScope & CopyScope;

/** From so many bytes on the time that SSH takes to log in is won back: the agent copies 3.5 MB/s into a guest, SSH 12. */
const MUCH_BYTES = 8 * 1024 * 1024;
/** How long SSH may take until it answers, before the agent copies after all. */
const SSH_LIMIT_MS = 15_000;

/** Copies into a guest. Permissions and times are kept where both sides have them. */
export async function copyIntoGuest(
  context: CopyContext,
  access: AccessWish,
  request: CopyRequest,
): Promise<CopyResult> {
  const { host, signal } = context;
  const facts = await host.files.stat(request.source, { follow: true });
  if (facts?.kind !== "folder") {
    return await overBestWay(context, access, facts?.size_bytes ?? 0, async (channel) => {
      const kept = facts?.mode === null || facts === undefined ? {} : { mode: facts.mode };
      const { channel: _, ...copied } = await copyToGuest(host, channel, {
        ...request,
        ...kept,
        onCopied: tell(context, facts?.size_bytes),
      }, signal);
      if (looksInto(channel) && facts?.modified !== null && facts !== undefined) {
        await setGuestTime(channel, request.destination, facts.modified / 1000, signal);
      }
      return copied;
    });
  }
  const content = await listFolder(host.files, request.source, signal);
  return await overBestWay(
    context,
    access,
    content.size_bytes,
    (channel) => copyFolderToGuest(context, channel, request, content),
  );
}

/** Copies out of a guest. */
export async function copyOutOfGuest(
  context: CopyContext,
  access: AccessWish,
  request: CopyRequest,
): Promise<CopyResult> {
  const { host, signal } = context;
  let seen: GuestEntry | undefined;
  await useGuest(context, access, async (channel) => {
    if (looksInto(channel)) seen = await lookAtGuestPath(channel, request.source, signal);
    return {};
  });
  const entry = seen;
  if (entry?.kind === "folder") {
    return await overBestWay(
      context,
      access,
      entry.size_bytes ?? 0,
      (channel) => copyFolderFromGuest(context, channel, request),
    );
  }
  return await overBestWay(context, access, entry?.size_bytes ?? 0, async (channel) => {
    const { channel: _, ...copied } = await copyFromGuest(host, channel, {
      ...request,
      onCopied: tell(context, entry?.size_bytes),
    }, signal);
    if (entry?.mode !== undefined && entry.modified_s !== undefined) {
      await host.files.setFacts(request.destination, { mode: entry.mode, modified: entry.modified_s * 1000 });
    }
    return copied;
  });
}

/** Only shells of real guests can be asked about files beside the copy itself. */
function looksInto({ family, name }: GuestChannel): boolean {
  return family === "posix" && name !== "memory";
}

function tell({ progress }: CopyScope, size: number | undefined): (bytes: number) => void {
  return (bytes) =>
    progress({
      message: "copying",
      ...(size === undefined || size === 0 ? {} : { fraction: Math.min(1, bytes / size) }),
    });
}

/** Much goes over SSH where it answers and the call does not say otherwise. */
async function overBestWay(
  context: CopyContext,
  access: AccessWish,
  size: number,
  work: (channel: GuestChannel) => Promise<Copied>,
): Promise<CopyResult> {
  const isFree = access.channel === undefined && access.user === undefined;
  if (!isFree || size < MUCH_BYTES || !await answersOverSsh(context)) {
    return await useGuest(context, access, work);
  }
  const { channels_not_used: unused = [], ...result } = await useGuest(
    context,
    { ...access, channel: "ssh" },
    work,
  );
  return {
    ...result,
    channels_not_used: unused.map(({ channel }) => ({ channel, reason: "it is slower with so much data" })),
  };
}

async function answersOverSsh({ driver, vm, signal, warn }: CopyContext): Promise<boolean> {
  const ways = driver.channels(vm);
  const ssh = ways.find(({ name }) => name === "ssh");
  if (ssh === undefined || ways.length < 2) return false;
  try {
    await ssh.ping(AbortSignal.any([signal, AbortSignal.timeout(SSH_LIMIT_MS)]));
    return true;
  } catch (error) {
    signal.throwIfAborted();
    warn(
      `SSH would be faster, but does not let us in: ${
        error instanceof HvError ? error.message : "no answer"
      }`,
    );
    return false;
  }
}
