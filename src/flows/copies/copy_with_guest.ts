/** Copying a file or a folder between this host and a guest over the way that serves best for so much. */

import { HvError } from "../../base/errors.ts";
import type { CopyResult } from "../../contract/guest.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { allowsChannel } from "../../guest/choose.ts";
import type { GuestEntry } from "../../guest/folders/content.ts";
import { guestFilesFor } from "../../guest/folders/guest_files.ts";
import { listFolder } from "../../guest/folders/read_folder.ts";
import { loadFileFromDisk } from "../../guest/posix/files.ts";
import { passingName } from "../../guest/passing.ts";
import { startSha256 } from "../../host/digest.ts";
import type { FileFacts } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { copyFromGuest, type CopyRequest, copyToGuest } from "./copy_files.ts";
import { type Copied, copyFolderFromGuest, copyFolderToGuest, type CopyScope } from "./copy_folders.ts";
import { withPassingNames } from "../crashes/passing_notes.ts";
import { type AccessWish, type GuestScope, useGuest } from "../guest/use_guest.ts";

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
    const lent = facts === undefined ? undefined : await lendToGuest(context, access, request, facts);
    if (lent !== undefined) return lent;
    return await overBestWay(context, access, facts?.size_bytes ?? 0, async (channel) => {
      const kept = facts?.mode === null || facts === undefined ? {} : { mode: facts.mode };
      const { channel: _, ...copied } = await withPassingNames(
        context,
        { guest: (token) => [passingName(request.destination, token)] },
        (token) =>
          copyToGuest(
            host,
            channel,
            { ...request, ...kept, token, onCopied: tell(context, facts?.size_bytes) },
            signal,
          ),
      );
      if (looksInto(channel) && facts?.modified !== null && facts !== undefined) {
        const guest = await guestFilesFor(channel);
        await guest.setTime(channel, request.destination, facts.modified, signal);
      }
      return copied;
    });
  }
  const content = await listFolder(host.files, request.source, signal);
  return await overBestWay(
    context,
    access,
    content.size_bytes,
    async (channel) => {
      const { passingPlaces } = await guestFilesFor(channel);
      return await withPassingNames(
        context,
        { guest: (token) => passingPlaces(request.destination, token) },
        (token) => copyFolderToGuest(context, channel, { ...request, token }, content),
      );
    },
  );
}

/**
 * Lets the guest read a large file from a disk that is it. `undefined` where that does not serve: the guest then has what it
 * had, and another way is taken.
 */
async function lendToGuest(
  context: CopyContext,
  access: AccessWish,
  { source, destination, overwrite }: CopyRequest,
  { kind, size_bytes: size, mode, modified }: FileFacts,
): Promise<CopyResult | undefined> {
  const { host, driver, vm, signal, progress, warn } = context;
  const lend = driver.disks?.lend?.bind(driver.disks);
  const isFree = access.channel === undefined && access.user === undefined;
  if (lend === undefined || !isFree || kind !== "file" || size < MUCH_BYTES) return undefined;
  try {
    return await useGuest(context, access, async (channel) => {
      if (!looksInto(channel) || channel.family !== "posix") {
        throw new HvError("hv.unavailable", "The guest has no shell to read a disk with");
      }
      const guest = await guestFilesFor(channel);
      progress({ message: "the guest reads the file from a disk" });
      const kept = { overwrite, ...(mode === null ? {} : { mode }) };
      using left = abortOnDispose();
      const digest = digestOf(host, source, size, AbortSignal.any([signal, left.signal]));
      // Who waits for it hears of its failure; a copy that fails before that does not wait.
      digest.catch(() => {});
      await withPassingNames(
        context,
        { guest: (token) => [passingName(destination, token)] },
        (token) =>
          lend(vm.id, source, async (serial) => {
            const loaded = { serial, size_bytes: size, sha256: digest };
            await loadFileFromDisk(channel, destination, loaded, { ...kept, token }, signal);
            if (modified !== null) await guest.setTime(channel, destination, modified, signal);
          }, { signal, progress, warn }),
      );
      const sha256 = await digest;
      return { source, destination, size_bytes: size, sha256, carried_by: "disk" as const };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HvError) || !DOES_NOT_SERVE.has(error.code)) throw error;
    if (error.code === "hv.conflict" && error.context.path === destination) throw error;
    warn(`The file could not be lent as a disk: ${error.message}`);
    return undefined;
  }
}

function abortOnDispose(): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() };
}

/** No slot or other work on the VM, a guest that does not see the disk, or a machine that hvlab did not start. */
const DOES_NOT_SERVE: ReadonlySet<string> = new Set(["hv.conflict", "hv.unavailable", "hv.unsupported"]);
const PART_BYTES = 1024 * 1024;

/** Lets other work go on between its parts. */
async function digestOf(
  { files, clock }: Host,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<string> {
  using file = files.open(path);
  const digest = await startSha256();
  for (let at = 0; at < size; at += PART_BYTES) {
    digest.update(file.read(at, Math.min(PART_BYTES, size - at)));
    await clock.sleep(0, signal);
  }
  return digest.end();
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
    if (looksInto(channel)) {
      seen = await (await guestFilesFor(channel)).look(channel, request.source, signal);
    }
    return {};
  });
  const entry = seen;
  if (entry?.kind === "folder") {
    return await overBestWay(
      context,
      access,
      entry.size_bytes ?? 0,
      async (channel) => {
        const { passingPlaces } = await guestFilesFor(channel);
        const host = (token: string): string[] => [passingName(request.destination, token)];
        return await withPassingNames(
          context,
          { guest: (token) => passingPlaces(undefined, token), host },
          (token) => copyFolderFromGuest(context, channel, { ...request, token }),
        );
      },
    );
  }
  return await overBestWay(context, access, entry?.size_bytes ?? 0, async (channel) => {
    const { channel: _, ...copied } = await withPassingNames(
      context,
      { host: (token) => [passingName(request.destination, token)] },
      (token) =>
        copyFromGuest(
          host,
          channel,
          { ...request, token, onCopied: tell(context, entry?.size_bytes) },
          signal,
        ),
    );
    if (entry?.modified_ms !== undefined) {
      const { mode, modified_ms: modified } = entry;
      await host.files.setFacts(request.destination, { ...(mode === undefined ? {} : { mode }), modified });
    }
    return copied;
  });
}

/** Only shells of real guests can be asked about files beside the copy itself. */
function looksInto({ name }: GuestChannel): boolean {
  return name !== "memory";
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

async function answersOverSsh({ driver, config, vm, signal, warn }: CopyContext): Promise<boolean> {
  const ways = driver.channels(vm).filter(({ name }) => allowsChannel(config.policy.channels, name));
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
