/** Files of a POSIX guest through programs alone, for channels that have no other way. */

import { BoundedBytes } from "../../base/bounded_bytes.ts";
import { HvError } from "../../base/errors.ts";
import { startSha256 } from "../../host/digest.ts";
import type { ByteFeed, ByteSink, GuestChannel, WriteOptions } from "../channel.ts";
import { passingName } from "../passing.ts";
import { checkGuestPath } from "./check_command.ts";
import {
  commitFailure,
  fileFailed,
  inspectFailure,
  prepareFailure,
  type ScriptWords,
} from "./file_failures.ts";
import loadScript from "./transfers/load.sh" with { type: "text" };
import { COMMIT_FILE, DROP_FILE, INSPECT_FILE, PREPARE_FILE } from "./file_scripts.ts";

const WORDS_KEPT = { head: 4096, tail: 4096 };
const DROP_LIMIT_MS = 10_000;
const DEFAULT_MODE = 0o644;

/** Where programs of a POSIX guest put what passes. */
export const TEMPORARY_FOLDER = "/tmp";

/** Writes what it reads to a file that is there. Argument: path. */
const RECEIVE_FILE = `cat >"$1"`;

type Programs = Pick<GuestChannel, "exec">;

/** Writes a file under a temporary name, has the guest compare size and digest, and gives it its name. */
export async function writeFileByProgram(
  channel: Programs,
  path: string,
  feed: ByteFeed,
  options: WriteOptions,
  signal: AbortSignal,
): Promise<void> {
  await inPlace(channel, path, options, signal, async (temporary) => {
    const digest = await startSha256();
    let size = 0;
    let failure: { reason: unknown } | undefined;
    const counted: ByteFeed = async () => {
      try {
        const part = await feed();
        if (part !== null) digest.update(part);
        size += part?.length ?? 0;
        return part;
      } catch (reason) {
        failure = { reason };
        throw reason;
      }
    };
    const received = await run(channel, RECEIVE_FILE, [temporary], signal, counted);
    if (failure !== undefined) throw failure.reason;
    if (received.code !== 0) throw fileFailed("write", path, received.stderr);
    return { size, sha256: digest.end() };
  });
}

/** A file that the guest reads from a disk of its own. */
export interface LoadedFile {
  /** By which it finds the disk. */
  serial: string;
  size_bytes: number;
  /** May be still on its way while the guest reads. */
  sha256: Promise<string>;
}

/**
 * Writes a file from the beginning of a disk, as `writeFileByProgram` does from what it is fed. Throws `hv.unavailable` when
 * the guest does not see the disk or may not read it.
 */
export async function loadFileFromDisk(
  channel: Programs,
  path: string,
  { serial, size_bytes, sha256 }: LoadedFile,
  options: WriteOptions,
  signal: AbortSignal,
): Promise<void> {
  await inPlace(channel, path, options, signal, async (temporary) => {
    const loaded = await run(channel, loadScript, [serial, String(size_bytes), temporary], signal);
    if (loaded.stdout === "disk") {
      throw new HvError("hv.unavailable", "The guest does not see the disk that the file is on", {
        hint: "Copy over another channel",
        context: { path },
      });
    }
    if (loaded.code !== 0) throw fileFailed("write", path, loaded.stderr);
    return { size: size_bytes, sha256: await sha256 };
  });
}

/** Makes room under a temporary name, has it filled, and gives it its name when the guest has what was sent. */
async function inPlace(
  channel: Programs,
  path: string,
  options: WriteOptions,
  signal: AbortSignal,
  fill: (temporary: string) => Promise<{ size: number; sha256: string }>,
): Promise<void> {
  checkGuestPath(path);
  const temporary = passingName(path, options.token);
  const replace = options.overwrite ? "yes" : "no";
  const prepared = await run(channel, PREPARE_FILE, [path, temporary, replace], signal);
  if (prepared.code !== 0) throw prepareFailure(path, prepared);
  try {
    const { size, sha256 } = await fill(temporary);
    const mode = (options.mode ?? DEFAULT_MODE).toString(8);
    const args = [path, temporary, replace, mode, String(size), sha256];
    const committed = await run(channel, COMMIT_FILE, args, signal);
    if (committed.code !== 0) throw commitFailure(path, committed);
  } catch (error) {
    if (!isOver(error)) await drop(channel, temporary);
    throw error;
  }
}

/** Reads a file whole. */
export async function readFileByProgram(
  channel: Programs,
  path: string,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  const inspected = await run(channel, INSPECT_FILE, [path], signal);
  if (inspected.code !== 0) throw inspectFailure(path, inspected);
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await channel.exec(
    { argv: ["cat", "--", path] },
    { stdout: sink, stderr: (bytes) => Promise.resolve(err.push(bytes)) },
    signal,
  );
  if (exit_code !== 0) throw fileFailed("read", path, err.toText().text.trim());
}

/** Removes a file; one that is not there counts as removed. */
export async function removeFileByProgram(
  channel: Programs,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  const { code, stderr } = await run(channel, DROP_FILE, [path], signal);
  if (code !== 0) throw fileFailed("remove", path, stderr);
}

async function run(
  channel: Programs,
  script: string,
  args: readonly string[],
  signal: AbortSignal,
  stdin?: ByteFeed,
): Promise<ScriptWords & { code: number | null }> {
  const out = new BoundedBytes(WORDS_KEPT);
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code: code } = await channel.exec(
    { argv: ["/bin/sh", "-c", script, "hvlab", ...args], ...(stdin === undefined ? {} : { stdin }) },
    {
      stdout: (bytes) => Promise.resolve(out.push(bytes)),
      stderr: (bytes) => Promise.resolve(err.push(bytes)),
    },
    signal,
  );
  return { code, stdout: out.toText().text.trim(), stderr: err.toText().text.trim() };
}

async function drop(channel: Programs, temporary: string): Promise<void> {
  try {
    await run(channel, DROP_FILE, [temporary], AbortSignal.timeout(DROP_LIMIT_MS));
  } catch {
    return;
  }
}

/** Whether after this failure nothing more can be asked of the guest. */
function isOver(error: unknown): boolean {
  return error instanceof HvError &&
    ["hv.outcome_unknown", "hv.guest_not_ready", "hv.guest_crashed"].includes(error.code);
}
