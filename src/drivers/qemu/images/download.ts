/** Getting one file whole: gone on where it broke off, bounded in size and in silence, and proved by its digest. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import { type Digest, startSha256 } from "../../../host/digest.ts";
import { type Download, withoutSecrets } from "../../../host/downloads.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ImageFetch } from "../../image_store_abilities.ts";
import type { QemuContext } from "../context.ts";

const BYTES_FILE = "download";
const NOTE_FILE = "download.json";
const CHUNK_BYTES = 1024 * 1024;
const REDIRECT_LIMIT = 5;

/** What is known of a download that has begun. */
const Note = z.object({
  sha256: z.string(),
  url: z.string(),
  /** What the server calls the version that the bytes are of. */
  validator: z.optional(z.string()),
});
type Note = z.infer<typeof Note>;

/**
 * Downloads into a folder and answers the file's path. The folder stays when the server breaks off, and goes when what
 * came is worth nothing.
 */
export async function download(
  context: QemuContext,
  wish: ImageFetch,
  folder: string,
  scope: CallScope,
): Promise<string> {
  const { files } = context.host;
  const path = joinPath(folder, BYTES_FILE);
  await using undo = new UndoList();
  undo.add("empty folder", async () => {
    if (((await files.stat(path))?.size_bytes ?? 0) === 0) await files.remove(folder);
  });
  await files.makeFolder(folder);
  const kept = await keptBytes(context, wish, folder, path, scope);
  if (await fetchRest(context, wish, folder, path, kept, scope) === wish.sha256) return path;
  if (kept.size > 0) {
    // The bytes that were there may be of another version: everything comes anew before anybody is blamed.
    const anew = { size: 0, digest: await startSha256() };
    await files.remove(path);
    if (await fetchRest(context, wish, folder, path, anew, scope) === wish.sha256) return path;
  }
  const { sha256: found } = await digestOf(context, path, scope.signal);
  const size = (await files.stat(path))?.size_bytes ?? 0;
  await files.remove(folder);
  throw new HvError(
    "hv.bad_image",
    `What the server sent is not what was asked for: its digest is ${found}`,
    {
      hint: "Compare the digest with the one that the image's makers publish",
      context: {
        url: withoutSecrets(wish.url),
        reason: "digest_mismatch",
        wanted: wish.sha256,
        found,
        size_bytes: size,
      },
    },
  );
}

interface Kept {
  size: number;
  digest: Digest;
  validator?: string;
}

/** What an earlier call has left, digested; nothing when it was after another file. */
async function keptBytes(
  context: QemuContext,
  { sha256, url }: ImageFetch,
  folder: string,
  path: string,
  { signal, progress }: CallScope,
): Promise<Kept> {
  const { files } = context.host;
  const note = await readNote(context, folder);
  const facts = await files.stat(path);
  if (note?.sha256 !== sha256 || facts === undefined) {
    await files.remove(path);
    return { size: 0, digest: await startSha256() };
  }
  progress({ message: "Reading what has come already" });
  const { size, digest } = await digestUnder(context, path, signal);
  const validator = note.url === withoutSecrets(url) ? note.validator : undefined;
  return { size, digest, ...(validator === undefined ? {} : { validator }) };
}

/** Gets what is missing and answers the whole file's digest. */
async function fetchRest(
  context: QemuContext,
  wish: ImageFetch,
  folder: string,
  path: string,
  { size, digest, validator }: Kept,
  scope: CallScope,
): Promise<string> {
  using answer = await open(context, wish, size, validator, scope.signal);
  // The server has nothing behind what is there.
  if (answer.status === 416 && size > 0) return digest.end();
  if (answer.status !== 200 && answer.status !== 206) throw refused(wish, answer.status);
  const goesOn = answer.status === 206 && answer.start === size && size > 0;
  const state = goesOn ? { size, digest } : { size: 0, digest: await startSha256() };
  const total = answer.length === undefined ? undefined : state.size + answer.length;
  if (total !== undefined && total > wish.max_bytes) throw await tooLarge(context, wish, folder, total);
  const note: Note = {
    sha256: wish.sha256,
    url: withoutSecrets(wish.url),
    ...(answer.validator === undefined ? {} : { validator: answer.validator }),
  };
  await context.host.files.writeAtomically(joinPath(folder, NOTE_FILE), JSON.stringify(note) + "\n");
  await receive(context, wish, folder, path, { answer, goesOn, total }, state, scope);
  return state.digest.end();
}

async function receive(
  context: QemuContext,
  wish: ImageFetch,
  folder: string,
  path: string,
  { answer, goesOn, total }: { answer: Download; goesOn: boolean; total: number | undefined },
  state: { size: number; digest: Digest },
  { signal, progress }: CallScope,
): Promise<void> {
  const { files } = context.host;
  using writer = goesOn
    ? await files.append(path)
    : await files.create(path, { overwrite: true, mode: 0o644 });
  for (;;) {
    signal.throwIfAborted();
    const bytes = await unlessSilent(context, wish, answer.read(), signal);
    if (bytes === null) break;
    state.size += bytes.length;
    if (state.size > wish.max_bytes) throw await tooLarge(context, wish, folder, state.size);
    state.digest.update(bytes);
    await writer.write(bytes);
    const fraction = total === undefined || total === 0 ? {} : { fraction: Math.min(1, state.size / total) };
    progress({ message: "Downloading", ...fraction });
  }
  await writer.sync();
  if (total === undefined || state.size === total) return;
  throw new HvError("hv.unavailable", `The server promised ${total} bytes and sent ${state.size}`, {
    hint: "Call again: what has come is kept",
    context: { url: withoutSecrets(wish.url), reason: "cut_off", wanted: total, found: state.size },
  });
}

/** A server that says nothing for too long is given up. */
async function unlessSilent<T>(
  { host }: QemuContext,
  { url, stall_s }: ImageFetch,
  next: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const stalled = host.clock.sleep(stall_s * 1000, over.signal).then(() => {
    throw new HvError("hv.unavailable", `The server has sent nothing for ${stall_s} s`, {
      hint: "Call again: what has come is kept",
      context: { url: withoutSecrets(url), reason: "stalled", stall_s },
    });
  });
  stalled.catch(() => {});
  next.catch(() => {});
  try {
    return await Promise.race([next, stalled]);
  } finally {
    over.abort(signal.reason);
  }
}

/** Asks the server, and those that it sends on to, each of which must be allowed. */
async function open(
  context: QemuContext,
  wish: ImageFetch,
  offset: number,
  validator: string | undefined,
  signal: AbortSignal,
): Promise<Download> {
  let address = wish.url;
  for (let hop = 0; hop <= REDIRECT_LIMIT; hop++) {
    wish.allow(address);
    const given = new AbortController();
    const asked = context.host.downloads.open(address, {
      signal: AbortSignal.any([signal, given.signal]),
      ...(offset === 0 ? {} : { offset }),
      ...(validator === undefined ? {} : { validator }),
    });
    const answer = await unlessSilent(context, wish, asked, signal).catch((error) => {
      given.abort(error);
      throw error;
    });
    if (answer.status < 300 || answer.status >= 400 || answer.location === undefined) return answer;
    address = answer.location;
    answer[Symbol.dispose]();
  }
  throw new HvError("hv.unavailable", `The server sends on more than ${REDIRECT_LIMIT} times`, {
    hint: "Give the file's own address",
    context: { url: withoutSecrets(wish.url), reason: "redirects" },
  });
}

async function readNote({ host }: QemuContext, folder: string): Promise<Note | undefined> {
  const text = await host.files.readTextIfPresent(joinPath(folder, NOTE_FILE));
  try {
    return text === undefined ? undefined : z.parse(Note, parseJson(text));
  } catch {
    // A note that cannot be read costs what has come so far and nothing else.
    return undefined;
  }
}

async function digestUnder(
  { host }: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<{ size: number; digest: Digest }> {
  const digest = await startSha256();
  using file = host.files.open(path);
  let size = 0;
  for (;;) {
    signal.throwIfAborted();
    const bytes = file.read(size, CHUNK_BYTES);
    if (bytes.length === 0) return { size, digest };
    digest.update(bytes);
    size += bytes.length;
    await Promise.resolve();
  }
}

async function digestOf(
  context: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<{ sha256: string }> {
  const { digest } = await digestUnder(context, path, signal);
  return { sha256: digest.end() };
}

async function tooLarge(
  { host }: QemuContext,
  { url, max_bytes: limit }: ImageFetch,
  folder: string,
  found: number,
): Promise<HvError> {
  await host.files.remove(folder);
  return new HvError("hv.bad_image", `The file is larger than ${limit} bytes`, {
    hint: "Give a larger --max when you expect such a file",
    context: { url: withoutSecrets(url), reason: "too_large", wanted: limit, found },
  });
}

function refused({ url }: ImageFetch, status: number): HvError {
  const isAbsent = status === 404 || status === 410;
  const isClosed = status === 401 || status === 403;
  return new HvError(
    isAbsent ? "hv.not_found" : isClosed ? "hv.permission" : "hv.unavailable",
    `The server answers ${status} for "${withoutSecrets(url)}"`,
    { hint: "Check the address", context: { url: withoutSecrets(url), status } },
  );
}
