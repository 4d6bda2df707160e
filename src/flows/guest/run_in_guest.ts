/** Running a program in a guest, whichever way leads there. */

import { BoundedBytes } from "../../base/bounded_bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { HvError } from "../../base/errors.ts";
import type { ExecResult } from "../../contract/guest.ts";
import type { ByteSink, GuestChannel, GuestCommand, GuestExit } from "../../guest/channel.ts";
import { type PassingScope, withPassingNames } from "../crashes/passing_notes.ts";
import { WholeOutput, type WholePlace } from "./whole_output.ts";

/** How much of each stream the result keeps, in bytes: from its beginning and from its end. */
export interface OutputLimits {
  head: number;
  tail: number;
}

/** Enough for a person and for a model; a door that passes bytes through sees all of them. */
export const OUTPUT_LIMITS: OutputLimits = { head: 128 * 1024, tail: 128 * 1024 };

/** How much of each stream a failure tells. */
const PARTIAL_CHARACTERS = 8_000;

export interface RunOptions {
  limits?: OutputLimits;
  /** Where all bytes go as they come, beside the result. */
  sinks?: { stdout: ByteSink; stderr: ByteSink } | undefined;
  /** Where the whole of a stream goes that is longer than the result keeps. */
  whole?: WholePlace | undefined;
  /** Where it is noted what passes through the guest, in case the call is killed; not for a guest that goes with the call. */
  passing?: PassingScope | undefined;
  signal: AbortSignal;
  clock: Clock;
}

/** Runs a program to its end. Any exit code or signal is a result; memory stays flat however much it prints. */
export async function runInGuest(
  channel: GuestChannel,
  command: GuestCommand,
  { limits = OUTPUT_LIMITS, sinks, whole, passing, signal, clock }: RunOptions,
): Promise<ExecResult> {
  const kept = { stdout: new BoundedBytes(limits), stderr: new BoundedBytes(limits) };
  const wholeOf = (name: string): WholeOutput | undefined =>
    whole === undefined ? undefined : new WholeOutput(whole, name, limits.head + limits.tail);
  const files = { stdout: wholeOf("stdout"), stderr: wholeOf("stderr") };
  const sinkFor = (stream: "stdout" | "stderr"): ByteSink => async (bytes) => {
    await files[stream]?.push(bytes, kept[stream]);
    kept[stream].push(bytes);
    await sinks?.[stream](bytes);
  };
  const started = clock.monotonic();
  let exit: GuestExit;
  try {
    const pushed = { stdout: sinkFor("stdout"), stderr: sinkFor("stderr") };
    exit = await withInput(passing, channel, command, (fed) => channel.exec(fed, pushed, signal));
  } catch (error) {
    throw withPartialOutput(error, kept);
  } finally {
    files.stdout?.close();
    files.stderr?.close();
  }
  const duration = clock.monotonic() - started;
  const stdout = kept.stdout.toText();
  const stderr = kept.stderr.toText();
  const dropped = stdout.dropped + stderr.dropped;
  const problem = files.stdout?.problem ?? files.stderr?.problem;
  return {
    exit_code: exit.exit_code,
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    stdout: stdout.text,
    stderr: stderr.text,
    ...(stdout.base64 === undefined ? {} : { stdout_base64: stdout.base64 }),
    ...(stderr.base64 === undefined ? {} : { stderr_base64: stderr.base64 }),
    stdout_bytes: stdout.total,
    stderr_bytes: stderr.total,
    ...(dropped === 0 ? {} : { truncated: true, dropped_bytes: dropped }),
    duration_ms: Math.round(duration),
    channel: channel.name,
    ...(files.stdout?.file === undefined ? {} : { stdout_file: files.stdout.file }),
    ...(files.stderr?.file === undefined ? {} : { stderr_file: files.stderr.file }),
    ...(problem === undefined ? {} : { file_problem: problem }),
  };
}

/** Notes what the channel keeps the program's input in, where it has to. */
async function withInput<T>(
  passing: PassingScope | undefined,
  channel: GuestChannel,
  command: GuestCommand,
  work: (command: GuestCommand) => Promise<T>,
): Promise<T> {
  const { inputPlaces } = channel;
  if (command.stdin === undefined || inputPlaces === undefined) return await work(command);
  return await withPassingNames(passing, { guest: inputPlaces }, (token) => work({ ...command, token }));
}

/** The failure with the end of what the program had written. */
function withPartialOutput(error: unknown, kept: { stdout: BoundedBytes; stderr: BoundedBytes }): unknown {
  if (!(error instanceof HvError) || kept.stdout.total + kept.stderr.total === 0) return error;
  return error.withContext({
    stdout: kept.stdout.toText().text.slice(-PARTIAL_CHARACTERS),
    stderr: kept.stderr.toText().text.slice(-PARTIAL_CHARACTERS),
    stdout_bytes: kept.stdout.total,
    stderr_bytes: kept.stderr.total,
  });
}
