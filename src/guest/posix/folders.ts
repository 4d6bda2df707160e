/** Folders of a POSIX guest, as tar archives. */

import { HvError } from "../../base/errors.ts";
import { BoundedBytes } from "../../base/bounded_bytes.ts";
import { startSha256 } from "../../host/digest.ts";
import type { ByteFeed, ByteSink, GuestChannel } from "../channel.ts";
import { checkGuestPath } from "./check_command.ts";
import lookScript from "./transfers/look.sh" with { type: "text" };
import packScript from "./transfers/pack.sh" with { type: "text" };
import unpackScript from "./transfers/unpack.sh" with { type: "text" };
import { fileFailed } from "./file_failures.ts";
import { PLAIN_TEXTS } from "./parts.ts";

const WORDS_KEPT = { head: 8 * 1024, tail: 8 * 1024 };
const TIDY_LIMIT_MS = 15_000;

/** What a path of the guest names; `undefined` where nothing is there. Facts that the guest does not tell are left out. */
export interface GuestEntry {
  kind: "file" | "folder" | "other";
  mode?: number;
  modified_s?: number;
  size_bytes?: number;
}

/** Looks at a path; links are followed. */
export async function lookAtGuestPath(
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
    ...(modified === undefined ? {} : { modified_s: Number(modified) }),
    ...(size === undefined ? {} : { size_bytes: Number(size) }),
  };
}

/** Gives a file of the guest its time of the last change, where the guest can. */
export async function setGuestTime(
  channel: GuestChannel,
  path: string,
  modified_s: number,
  signal: AbortSignal,
): Promise<void> {
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const argv = ["touch", "-c", "-m", "-d", `@${Math.floor(modified_s)}`, "--", path];
  await channel.exec({ argv }, nothing, signal);
}

/** Throws unless the folder may be made in the guest: `hv.conflict` for one that is there, `hv.usage` for a file. */
export async function checkGuestFolder(
  channel: GuestChannel,
  path: string,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  await runUnpack(channel, ["check", path, overwrite ? "yes" : "no", "", ""], path, signal);
}

/**
 * Puts an archive into the guest, whose size and SHA-256 the channel has compared there, and unpacks it: under a passing
 * name that becomes the folder's, or into a folder that is there when `overwrite` is set.
 */
export async function unpackInGuest(
  channel: GuestChannel,
  path: string,
  feed: ByteFeed,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<void> {
  const folder = path.replace(/\/+$/, "");
  const passing = `${folder}.hvlab-${crypto.randomUUID().slice(0, 8)}`;
  const archive = `${passing}.tar`;
  try {
    await channel.writeFile(archive, feed, { overwrite: false, mode: 0o600 }, signal);
    await runUnpack(channel, ["unpack", path, overwrite ? "yes" : "no", archive, passing], path, signal);
  } catch (error) {
    await tidy(channel, ["rm", "-rf", "--", passing]);
    throw error;
  } finally {
    await tidy(channel, ["rm", "-f", "--", archive]);
  }
}

/** What a guest says of the archive that it sent. */
export interface Packed {
  sha256: string;
  /** Files that changed while they were read, and the like. */
  warning?: string;
}

/** Has the guest send a folder. What arrives is compared with the SHA-256 that the guest tells, where it can. */
export async function packInGuest(
  channel: GuestChannel,
  path: string,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<Packed> {
  checkGuestPath(path);
  const pipe = `${await channel.temporaryFolder(signal)}/.hvlab-${crypto.randomUUID()}`;
  const digest = await startSha256();
  const err = new BoundedBytes(WORDS_KEPT);
  let hasEnded = false;
  try {
    await channel.exec({ argv: ["/bin/sh", "-c", packScript, "hvlab", path, pipe], env: PLAIN_TEXTS }, {
      stdout: async (bytes) => {
        digest.update(bytes);
        await sink(bytes);
      },
      stderr: (bytes) => Promise.resolve(err.push(bytes)),
    }, signal);
    hasEnded = true;
  } finally {
    if (!hasEnded) await tidy(channel, ["rm", "-f", "--", pipe]);
  }
  const sha256 = digest.end();
  const words = err.toText().text;
  const told = /^hv-sha256 ([0-9a-f]{64})$/m.exec(words)?.[1];
  const failed = /^hv-failed (\w+)$/m.exec(words)?.[1];
  const ended = Number(/^hv-ended (\d+)$/m.exec(words)?.[1] ?? 0);
  const rest = words.split("\n").filter((line) => line !== "" && !line.startsWith("hv-")).join("\n");
  if (failed !== undefined) throw packFailure(path, failed, rest);
  // GNU tar ends with 1 when a file changed under its hands.
  if (ended > 1) throw fileFailed("read the folder", path, rest);
  if (told !== undefined && told !== sha256) {
    throw new HvError("hv.io", `What arrived of "${path}" differs from what the guest sent`, {
      hint: "Copy it again",
      context: { path, wanted: told, found: sha256 },
      retryable: true,
    });
  }
  return { sha256, ...(rest === "" ? {} : { warning: rest }) };
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
