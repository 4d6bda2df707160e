/** A folder of this host as a tar archive, made while it is read. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { tarEnd, type TarEntry, tarHeader, tarPadding } from "../../base/tar.ts";
import type { FileFacts, Files } from "../../host/files.ts";
import type { ByteFeed } from "../channel.ts";
import type { FolderContent } from "./content.ts";

const PART_BYTES = 256 * 1024;
/** Small files go together in pieces of this size: each piece is a round trip. */
const PIECE_BYTES = 192 * 1024;
const USUAL_MODE = { file: 0o644, folder: 0o755, link: 0o777 } as const;

/** Looks at all that is in a folder; links are told as links and lead nowhere. */
export async function listFolder(files: Files, folder: string, signal: AbortSignal): Promise<FolderContent> {
  const content: FolderContent = { entries: [], files: 0, size_bytes: 0, skipped: [] };
  const own = await files.stat(folder, { follow: true });
  if (own !== undefined) content.entries.push(entryOf(".", "folder", own));
  await listBelow(files, folder, "", content, signal);
  return content;
}

/** What is in a folder follows it at once: tar sets a folder's time when the archive goes on elsewhere. */
async function listBelow(
  files: Files,
  folder: string,
  within: string,
  content: FolderContent,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  for (const { name } of await files.list(joinPath(folder, within))) {
    const path = within === "" ? name : `${within}/${name}`;
    const facts = await files.stat(joinPath(folder, path));
    if (facts === undefined) continue;
    if (facts.kind === "other") {
      content.skipped.push({ path, reason: "it is neither a file, nor a folder, nor a link" });
      continue;
    }
    if (facts.kind === "file") {
      content.files++;
      content.size_bytes += facts.size_bytes;
    }
    content.entries.push({
      ...entryOf(path, facts.kind, facts),
      ...(facts.kind === "link" ? { target: await files.readLink(joinPath(folder, path)) } : {}),
    });
    if (facts.kind === "folder") await listBelow(files, folder, path, content, signal);
  }
}

function entryOf(path: string, kind: TarEntry["kind"], { size_bytes, mode, modified }: FileFacts): TarEntry {
  return {
    path,
    kind,
    size_bytes: kind === "file" ? size_bytes : 0,
    mode: (mode ?? USUAL_MODE[kind]) & 0o777,
    modified_s: (modified ?? 0) / 1000,
  };
}

/** An archive that is being made; the file that it stands in is closed with it. */
export interface FolderFeed extends AsyncDisposable {
  feed: ByteFeed;
}

/**
 * The archive in pieces. `onRead` hears how many bytes of files have been read. A file that is not as long any more as
 * it was listed is `hv.conflict`.
 */
export function feedFolder(
  files: Files,
  folder: string,
  { entries }: FolderContent,
  onRead: (bytes: number) => void,
): FolderFeed {
  const pieces = gather(archiveOf(files, folder, entries, onRead));
  return {
    async feed() {
      const { done, value } = await pieces.next();
      return done === true ? null : value;
    },
    async [Symbol.asyncDispose]() {
      await pieces.return();
    },
  };
}

async function* archiveOf(
  files: Files,
  folder: string,
  entries: readonly TarEntry[],
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  let read = 0;
  for (const entry of entries) {
    yield tarHeader(entry);
    if (entry.kind !== "file" || entry.size_bytes === 0) continue;
    using file = files.open(joinPath(folder, entry.path));
    for (let at = 0; at < entry.size_bytes;) {
      const part = file.read(at, Math.min(PART_BYTES, entry.size_bytes - at));
      if (part.length === 0) throw changed(entry.path, at);
      at += part.length;
      onRead(read += part.length);
      yield part;
    }
    yield tarPadding(entry.size_bytes);
  }
  yield tarEnd();
  await Promise.resolve();
}

async function* gather(parts: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  const piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (let part of parts) {
    while (part.length > 0) {
      const count = Math.min(part.length, PIECE_BYTES - filled);
      piece.set(part.subarray(0, count), filled);
      filled += count;
      part = part.subarray(count);
      if (filled === PIECE_BYTES) {
        yield piece.slice();
        filled = 0;
      }
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}

function changed(path: string, found: number): HvError {
  return new HvError("hv.conflict", `"${path}" became shorter while it was read`, {
    hint: "Copy again when nothing writes into the folder",
    context: { path, found_bytes: found },
  });
}
