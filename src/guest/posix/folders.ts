/** Folders of a POSIX guest, as tar archives. */

import { HvError } from "../../base/errors.ts";
import { BoundedBytes } from "../../base/bounded_bytes.ts";
import type { ByteFeed, ByteSink, GuestChannel, GuestFiles } from "../channel.ts";
import type { GuestEntry, Packed } from "../folders/content.ts";
import { type PackingEnd, receiveArchive } from "../folders/receive_archive.ts";
import { checkGuestPath } from "./check_command.ts";
import lookScript from "./transfers/look.sh" with { type: "text" };
import packScript from "./transfers/pack.sh" with { type: "text" };
import unpackScript from "./transfers/unpack.sh" with { type: "text" };
import { fileFailed } from "./file_failures.ts";
import { passingName } from "../passing.ts";
import { TEMPORARY_FOLDER } from "./files.ts";
import { PLAIN_TEXTS } from "./parts.ts";

const WORDS_KEPT = { head: 8 * 1024, tail: 8 * 1024 };
const TIDY_LIMIT_MS = 15_000;

export const POSIX_FILES: GuestFiles = {
  look,
  setTime,
  accept: (content) => content,
  check,
  unpack,
  pack,
  passingPlaces,
  remove,
};

async function look(
  channel: GuestChannel,
  path: string,
  signal: AbortSignal,
): Promise<GuestEntry | undefined> {
  checkGuestPath(path);
  const out = new BoundedBytes(WORDS_KEPT);
  await channel.exec({ argv: ["/bin/sh", "-c", lookScript, "hvlab", path], env: PLAIN_TEXTS }, {
    stdout: (bytes) => Promise.resolve(out.push(bytes)),
    stderr: () => Promise.resolve(),
  }, signal);
  const [, kind, mode, modified, size] =
    /^(file|folder|other) ?(?:([0-7]+) (\d+) (\d+))?$/.exec(out.toText().text.trim()) ?? [];
  if (kind !== "file" && kind !== "folder" && kind !== "other") return undefined;
  return {
    kind,
    ...(mode === undefined ? {} : { mode: parseInt(mode, 8) & 0o777 }),
    ...(modified === undefined ? {} : { modified_ms: Number(modified) * 1000 }),
    ...(size === undefined ? {} : { size_bytes: Number(size) }),
  };
}

async function setTime(
  channel: GuestChannel,
  path: string,
  modified_ms: number,
  signal: AbortSignal,
): Promise<void> {
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const argv = ["touch", "-c", "-m", "-d", `@${Math.floor(modified_ms / 1000)}`, "--", path];
  await channel.exec({ argv }, nothing, signal);
}

async function check(
  channel: GuestChannel,
  path: string,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  await runUnpack(channel, ["check", path, overwrite ? "yes" : "no", "", ""], path, signal);
}

async function unpack(
  channel: GuestChannel,
  path: string,
  feed: ByteFeed,
  { overwrite, token }: { overwrite: boolean; token: string },
  signal: AbortSignal,
): Promise<void> {
  const passing = passingName(path, token);
  const archive = `${passing}.tar`;
  try {
    await channel.writeFile(archive, feed, { overwrite: false, mode: 0o600, token }, signal);
    await runUnpack(channel, ["unpack", path, overwrite ? "yes" : "no", archive, passing], path, signal);
  } catch (error) {
    await tidy(channel, ["rm", "-rf", "--", passing]);
    throw error;
  } finally {
    await tidy(channel, ["rm", "-f", "--", archive]);
  }
}

async function pack(
  channel: GuestChannel,
  path: string,
  sink: ByteSink,
  { token }: { token: string },
  signal: AbortSignal,
): Promise<Packed> {
  checkGuestPath(path);
  const pipe = pipeOf(token);
  const command = { argv: ["/bin/sh", "-c", packScript, "hvlab", path, pipe], env: PLAIN_TEXTS };
  let end: PackingEnd | undefined;
  try {
    end = await receiveArchive(channel, command, path, sink, signal);
  } finally {
    if (end === undefined) await tidy(channel, ["rm", "-f", "--", pipe]);
  }
  const { sha256, failed, ended, warning } = end;
  if (failed !== undefined) throw packFailure(path, failed, warning ?? "");
  // GNU tar ends with 1 when a file changed under its hands.
  if (ended > 1) throw fileFailed("read the folder", path, warning ?? "");
  return { sha256, ...(warning === undefined ? {} : { warning }) };
}

function passingPlaces(path: string | undefined, token: string): string[] {
  if (path === undefined) return [pipeOf(token)];
  const folder = passingName(path, token);
  const archive = `${folder}.tar`;
  return [passingName(archive, token), archive, folder];
}

/** The pipe through which what is packed reaches the guest's own sum. */
function pipeOf(token: string): string {
  return passingName(`${TEMPORARY_FOLDER}/pack`, token);
}

/** Busybox does not force itself to pass over what cannot be there, as below a file. Argument: path. */
const REMOVE = `if [ -e "$1" ] || [ -L "$1" ]; then rm -rf -- "$1"; fi`;

async function remove(channel: GuestChannel, path: string, signal: AbortSignal): Promise<void> {
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await channel.exec({ argv: ["/bin/sh", "-c", REMOVE, "hvlab", path] }, {
    stdout: () => Promise.resolve(),
    stderr: (bytes) => Promise.resolve(err.push(bytes)),
  }, signal);
  if (exit_code !== 0) throw fileFailed("remove", path, err.toText().text.trim());
}

async function runUnpack(
  channel: GuestChannel,
  words: readonly string[],
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const out = new BoundedBytes(WORDS_KEPT);
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await channel.exec({
    argv: ["/bin/sh", "-c", unpackScript, "hvlab", ...words],
    env: PLAIN_TEXTS,
  }, {
    stdout: (bytes) => Promise.resolve(out.push(bytes)),
    stderr: (bytes) => Promise.resolve(err.push(bytes)),
  }, signal);
  if (exit_code !== 0) throw unpackFailure(path, out.toText().text.trim(), err.toText().text.trim());
}

function unpackFailure(path: string, word: string, reason: string): HvError {
  switch (word) {
    case "exists":
      return new HvError("hv.conflict", `The folder "${path}" exists in the guest already`, {
        hint: "Choose another path, or give --overwrite to copy into it",
        context: { path, wanted: "absent", found: "present" },
      });
    case "file":
      return new HvError(
        "hv.usage",
        `"${path}" in the guest is a file, and a folder was to be copied there`,
        {
          hint: "Choose another path",
          context: { path },
        },
      );
    case "tar":
      return noTar();
    default:
      return fileFailed(word === "unpack" ? "unpack" : "make the folder", path, reason);
  }
}

function packFailure(path: string, word: string, reason: string): HvError {
  if (word === "tar") return noTar();
  if (word === "missing") {
    return new HvError("hv.not_found", `There is no "${path}" in the guest`, {
      hint: "Check the path",
      context: { path },
    });
  }
  return fileFailed("read the folder", path, word === "file" ? "it is a file" : reason);
}

function noTar(): HvError {
  return new HvError("hv.unsupported", "The guest has no tar, which folders travel in", {
    hint: "Install it in the guest, or copy single files",
    context: { missing: "tar" },
  });
}

/** What passes in the guest is removed as far as the guest can be reached. */
async function tidy(channel: GuestChannel, argv: readonly string[]): Promise<void> {
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  try {
    await channel.exec({ argv }, nothing, AbortSignal.timeout(TIDY_LIMIT_MS));
  } catch {
    return;
  }
}
