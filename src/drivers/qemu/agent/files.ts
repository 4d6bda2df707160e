/** Files of a guest through its agent: written whole or not at all, read whole and checked. */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { type Digest, startSha256 } from "../../../host/digest.ts";
import type { ByteFeed, ByteSink, WriteOptions } from "../../../guest/channel.ts";
import { passingName } from "../../../guest/passing.ts";
import { checkGuestPath } from "../../../guest/posix/check_command.ts";
import {
  commitFailure,
  fileFailed,
  inspectFailure,
  prepareFailure,
} from "../../../guest/posix/file_failures.ts";
import { isUnreachable } from "../../../guest/unreachable.ts";
import { closeHandles, openHandles } from "./handles.ts";
import { runScript } from "./program.ts";
import { bytesIn } from "./protocol.ts";
import {
  COMMIT_FILE,
  DIGEST_FILE,
  DROP_FILE,
  INSPECT_FILE,
  PREPARE_FILE,
} from "../../../guest/posix/file_scripts.ts";
import { fileRefused, isHandleLost } from "./file_errors.ts";
import type { AgentRounds } from "./rounds.ts";
import type { AgentTraces } from "./traces.ts";

/** Who can be asked, and what keeps the traces of calls that are killed. */
type FileLink = AgentRounds & { readonly traces: Pick<AgentTraces, "open"> };

/** What one request carries. From 64 KiB on the agent's speed no longer grows (measured on QEMU 7.2). */
export const CHUNK_BYTES = 192 * 1024;

/** Reads without bytes and without an end that are borne before it is called a standstill. */
const EMPTY_READS = 3;
const DROP_LIMIT_MS = 10_000;
const DEFAULT_MODE = 0o644;

/** Writes a file under a temporary name, has the guest compare size and digest, and gives it its name. */
export async function writeGuestFile(
  link: FileLink,
  clock: Clock,
  path: string,
  feed: ByteFeed,
  options: WriteOptions,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  const temporary = passingName(path, options.token);
  const replace = options.overwrite ? "yes" : "no";
  const prepared = await runScript(link, clock, PREPARE_FILE, [path, temporary, replace], signal);
  if (prepared.exit.exit_code !== 0) throw prepareFailure(path, prepared);
  try {
    const { size, sha256 } = await send(link, clock, temporary, feed, signal);
    const mode = (options.mode ?? DEFAULT_MODE).toString(8);
    const args = [path, temporary, replace, mode, String(size), sha256];
    const committed = await runScript(link, clock, COMMIT_FILE, args, signal);
    if (committed.exit.exit_code !== 0) throw commitFailure(path, committed);
  } catch (error) {
    if (!isUnreachable(error) || isHandleLost(error)) await drop(link, clock, temporary);
    throw error;
  }
}

/**
 * Reads a file: as much as it held at the beginning, so that a growing log ends, and all that comes where the
 * size is not known beforehand, as under /proc. The bytes are compared by digest where the size is known.
 */
export async function readGuestFile(
  link: FileLink,
  clock: Clock,
  path: string,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  const inspected = await runScript(link, clock, INSPECT_FILE, [path], signal);
  if (inspected.exit.exit_code !== 0) throw inspectFailure(path, inspected);
  const size = Number(inspected.stdout);
  const digest = await startSha256();
  const received = await receive(link, clock, path, size, async (bytes) => {
    digest.update(bytes);
    await sink(bytes);
  }, signal);
  if (size === 0) return;
  const { stdout } = await runScript(link, clock, DIGEST_FILE, [path, String(size)], signal);
  const [expected = ""] = stdout.split(" ");
  const sha256 = digest.end();
  if (received === size && (expected === "" || expected === sha256)) return;
  throw new HvError("hv.conflict", `"${path}" in the guest was changed while it was read`, {
    hint: "Read it again when nothing writes to it",
    context: { path, wanted: expected, found: sha256, size_bytes: size, received_bytes: received },
    retryable: true,
  });
}

/** Removes a file; one that is not there counts as removed. */
export async function removeGuestFile(
  link: FileLink,
  clock: Clock,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  checkGuestPath(path);
  const { exit, stderr } = await runScript(link, clock, DROP_FILE, [path], signal);
  if (exit.exit_code !== 0) throw fileFailed("remove", path, stderr);
}

async function send(
  link: FileLink,
  clock: Clock,
  path: string,
  feed: ByteFeed,
  signal: AbortSignal,
): Promise<{ size: number; sha256: string }> {
  const digest: Digest = await startSha256();
  return await withHandle(link, clock, path, "w", async (handle) => {
    let size = 0;
    for (let part = await feed(); part !== null; part = await feed()) {
      digest.update(part);
      size += part.length;
      for (let at = 0; at < part.length; at += CHUNK_BYTES) {
        const chunk = part.subarray(at, at + CHUNK_BYTES).toBase64();
        await ask(link, "guest-file-write", { handle, "buf-b64": chunk }, path, signal);
      }
    }
    await ask(link, "guest-file-flush", { handle }, path, signal);
    return { size, sha256: digest.end() };
  });
}

async function receive(
  link: FileLink,
  clock: Clock,
  path: string,
  size: number,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<number> {
  return await withHandle(link, clock, path, "r", async (handle) => {
    let received = 0;
    for (let idle = 0; idle < EMPTY_READS;) {
      const count = size === 0 ? CHUNK_BYTES : Math.min(CHUNK_BYTES, size - received);
      const value = await ask(link, "guest-file-read", { handle, count }, path, signal);
      const bytes = bytesIn(value, "buf-b64").subarray(0, count);
      received += bytes.length;
      if (bytes.length > 0) await sink(bytes);
      if (isPlainObject(value) && value.eof === true) return received;
      if (size > 0 && received === size) return received;
      idle = bytes.length === 0 ? idle + 1 : 0;
    }
    throw new HvError("hv.io", `Reading "${path}" in the guest makes no progress`, {
      hint: "Copy the file to another place in the guest, then read that",
      context: { path, received_bytes: received },
    });
  });
}

async function withHandle<T>(
  link: FileLink,
  clock: Clock,
  path: string,
  mode: "r" | "w",
  work: (handle: number) => Promise<T>,
): Promise<T> {
  const handles: number[] = [];
  let reachable = true;
  const trace = await link.traces.open();
  try {
    const [answer] = await openHandles(link, handles, [{ path, mode }]);
    trace.note({ handles });
    const [handle] = handles;
    if (answer?.ok === false) throw fileRefused("guest-file-open", answer, path);
    if (handle === undefined) throw new HvError("hv.internal", "The guest agent gave no handle");
    return await work(handle);
  } catch (error) {
    reachable = !isUnreachable(error);
    throw error;
  } finally {
    if (reachable && await closeHandles(link, clock, handles)) await trace.remove();
    else trace.leave();
  }
}

async function ask(
  link: FileLink,
  name: string,
  values: JsonObject,
  path: string,
  signal: AbortSignal,
): Promise<JsonValue> {
  const [answer] = await link.ask([{ name, arguments: values }], { signal, changes: true });
  if (answer.ok) return answer.value;
  throw fileRefused(name, answer, path);
}

async function drop(link: FileLink, clock: Clock, temporary: string): Promise<void> {
  using limit = startDeadline(clock, DROP_LIMIT_MS);
  try {
    await runScript(link, clock, DROP_FILE, [temporary], limit.signal);
  } catch {
    return;
  }
}
