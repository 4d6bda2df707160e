/** Copying single files between this host and a guest, whichever way leads there. */

import { HvError } from "../../base/errors.ts";
import { folderOf } from "../../base/paths.ts";
import type { CopyResult } from "../../contract/guest.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { passingName } from "../../guest/passing.ts";
import { startSha256 } from "../../host/digest.ts";
import type { Host } from "../../host/host.ts";

/** What goes where. An existing destination is refused unless `overwrite` is set. */
export interface CopyRequest {
  source: string;
  destination: string;
  overwrite: boolean;
  /** Permission bits of what is written; the usual ones when left out. */
  mode?: number;
  /** Makes the passing names; one of each channel's own when left out. */
  token?: string;
  /** Hears how many bytes have been copied. */
  onCopied?: (bytes: number) => void;
}

/** What is read from the host's disk at once. */
const PART_BYTES = 256 * 1024;

/**
 * Copies a host file into a guest. A source that is missing (`hv.not_found`) or a folder (`hv.unsupported`)
 * fails before the guest is asked anything; the channel has what arrived compared with what was sent.
 */
export async function copyToGuest(
  host: Host,
  channel: GuestChannel,
  { source, destination, overwrite, mode, token, onCopied }: CopyRequest,
  signal: AbortSignal,
): Promise<CopyResult> {
  const facts = await host.files.stat(source, { follow: true });
  if (facts === undefined) {
    throw new HvError("hv.not_found", `There is no file "${source}" on this host`, {
      hint: "Check the path",
      context: { path: source },
    });
  }
  if (facts.kind === "folder") throw singleFilesOnly(source);
  if (facts.kind !== "file") {
    throw new HvError("hv.usage", `"${source}" is no ordinary file`, {
      hint: "Name a file",
      context: { path: source, found: facts.kind },
    });
  }
  using file = host.files.open(source);
  const digest = await startSha256();
  let size = 0;
  const feed = (): Promise<Uint8Array | null> => {
    const part = file.read(size, PART_BYTES);
    if (part.length === 0) return Promise.resolve(null);
    digest.update(part);
    size += part.length;
    onCopied?.(size);
    return Promise.resolve(part);
  };
  const options = {
    overwrite,
    ...(mode === undefined ? {} : { mode }),
    ...(token === undefined ? {} : { token }),
  };
  await channel.writeFile(destination, feed, options, signal);
  return { source, destination, size_bytes: size, sha256: digest.end(), channel: channel.name };
}

/**
 * Copies a guest file to this host: under a temporary name beside the destination, then renamed, so that no half
 * file is ever seen. The destination is looked at before the guest is asked anything.
 */
export async function copyFromGuest(
  host: Host,
  channel: GuestChannel,
  { source, destination, overwrite, mode, token, onCopied }: CopyRequest,
  signal: AbortSignal,
): Promise<CopyResult> {
  await checkPlace(host, destination, overwrite);
  const temporary = passingName(destination, token);
  const digest = await startSha256();
  let size = 0;
  try {
    using writer = await host.files.create(temporary, mode === undefined ? {} : { mode });
    await channel.readFile(source, async (bytes) => {
      digest.update(bytes);
      size += bytes.length;
      onCopied?.(size);
      await writer.write(bytes);
    }, signal);
    await writer.sync();
    writer.close();
    await checkPlace(host, destination, overwrite);
    await host.files.rename(temporary, destination);
  } catch (error) {
    await host.files.remove(temporary);
    throw error;
  }
  return { source, destination, size_bytes: size, sha256: digest.end(), channel: channel.name };
}

async function checkPlace({ files }: Host, destination: string, overwrite: boolean): Promise<void> {
  const facts = await files.stat(destination);
  if (facts?.kind === "folder") {
    throw new HvError("hv.usage", `"${destination}" is a folder`, {
      hint: "Name the file that is to be written",
      context: { path: destination },
    });
  }
  if (facts !== undefined && !overwrite) {
    throw new HvError("hv.conflict", `"${destination}" exists on this host already`, {
      hint: "Choose another path, or give --overwrite",
      context: { path: destination, wanted: "absent", found: "present" },
    });
  }
  const folder = folderOf(destination);
  if ((await files.stat(folder, { follow: true }))?.kind === "folder") return;
  throw new HvError("hv.not_found", `There is no folder "${folder}" on this host`, {
    hint: "Make it first",
    context: { path: folder },
  });
}

function singleFilesOnly(path: string): HvError {
  return new HvError("hv.unsupported", `"${path}" is a folder, and only single files are copied`, {
    hint: "Pack it with tar, and unpack it on the other side",
    context: { path },
  });
}
