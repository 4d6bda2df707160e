/** Copying folders between this host and a guest, each as one stream. */

import { HvError } from "../../base/errors.ts";
import { folderOf, joinPath } from "../../base/paths.ts";
import { TarReader } from "../../base/tar_reader.ts";
import type { CopyResult } from "../../contract/guest.ts";
import type { Progress } from "../../contract/operation.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { guestFilesFor } from "../../guest/folders/guest_files.ts";
import type { FolderContent } from "../../guest/folders/content.ts";
import { feedFolder } from "../../guest/folders/read_folder.ts";
import { FolderWriter } from "../../guest/folders/write_folder.ts";
import { passingName, passingToken } from "../../guest/passing.ts";
import { startSha256 } from "../../host/digest.ts";
import type { Host } from "../../host/host.ts";
import type { CopyRequest } from "./copy_files.ts";

/** What surrounds a copy. */
export interface CopyScope {
  host: Host;
  signal: AbortSignal;
  progress: (progress: Progress) => void;
  warn: (text: string) => void;
}

/** A finished copy, whichever way it went. */
export type Copied = Omit<CopyResult, "channel" | "channels_not_used">;

const SKIPPED_TOLD = 100;

/** Copies a host folder, which `listFolder` has looked at, into a guest. */
export async function copyFolderToGuest(
  { host, signal, progress }: CopyScope,
  channel: GuestChannel,
  { source, destination, overwrite, token = passingToken() }: CopyRequest,
  listed: FolderContent,
): Promise<Copied> {
  const guest = await guestFilesFor(channel);
  const content = guest.accept(listed);
  await guest.check(channel, destination, overwrite, signal);
  const digest = await startSha256();
  await using archive = feedFolder(host.files, source, content, (bytes) =>
    progress({
      message: `copying ${content.files} files`,
      ...(content.size_bytes === 0 ? {} : { fraction: bytes / content.size_bytes }),
    }));
  const feed = async (): Promise<Uint8Array | null> => {
    const piece = await archive.feed();
    if (piece !== null) digest.update(piece);
    return piece;
  };
  await guest.unpack(channel, destination, feed, { overwrite, token }, signal);
  const { skipped } = content;
  return {
    source,
    destination,
    size_bytes: content.size_bytes,
    sha256: digest.end(),
    files: content.files,
    ...(skipped.length === 0
      ? {}
      : { skipped: skipped.slice(0, SKIPPED_TOLD), skipped_count: skipped.length }),
  };
}

/**
 * Copies a guest folder to this host: into a new folder beside the destination, which then gets its name. With `overwrite`
 * a folder that is there keeps what the guest's has not. Nothing of a broken copy stays.
 */
export async function copyFolderFromGuest(
  { host, signal, progress, warn }: CopyScope,
  channel: GuestChannel,
  { source, destination, overwrite, token = passingToken() }: CopyRequest,
): Promise<Copied> {
  const guest = await guestFilesFor(channel);
  const { files } = host;
  const there = await files.stat(destination);
  if (there !== undefined && (there.kind !== "folder" || !overwrite)) throw taken(destination, there.kind);
  await files.makeFolder(folderOf(destination));
  const passing = passingName(destination, token);
  await files.makeFolder(passing);
  const writer = new FolderWriter(host, passing);
  try {
    const reader = new TarReader(writer);
    const { sha256, warning } = await guest.pack(
      channel,
      source,
      async (bytes) => {
        await reader.push(bytes);
        progress({ message: `copied ${writer.files} files, ${writer.size_bytes} bytes` });
      },
      { token },
      signal,
    );
    reader.finish();
    if (warning !== undefined) warn(warning);
    await writer.finish();
    if (there === undefined) await files.rename(passing, destination);
    else await mergeFolder(host, passing, destination);
    return {
      source,
      destination,
      size_bytes: writer.size_bytes,
      sha256,
      files: writer.files,
      ...(writer.skipped_count === 0 ? {} : { skipped: writer.skipped, skipped_count: writer.skipped_count }),
    };
  } finally {
    writer.close();
    await files.remove(passing);
  }
}

/** Moves files into a folder that is there. A link in the place of a folder is not followed. */
async function mergeFolder(host: Host, from: string, to: string): Promise<void> {
  const { files } = host;
  for (const { name, kind } of await files.list(from)) {
    const one = joinPath(from, name);
    const other = joinPath(to, name);
    const there = await files.stat(other);
    if (kind === "folder" && there?.kind === "folder") await mergeFolder(host, one, other);
    else if (there === undefined || (kind === "file" && there.kind === "file")) {
      await files.rename(one, other);
    } else throw taken(other, there.kind);
  }
}

function taken(path: string, found: string): HvError {
  return new HvError("hv.conflict", `"${path}" exists on this host already, as a ${found}`, {
    hint: found === "folder"
      ? "Choose another path, or give --overwrite to copy into it"
      : "Choose another path",
    context: { path, wanted: "absent", found },
  });
}
