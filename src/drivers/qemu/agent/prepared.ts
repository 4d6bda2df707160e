/** Programs that read what we send, or run as another user, through the guest agent. */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import type { GuestCommand, GuestExit } from "../../../guest/channel.ts";
import { checkCommand } from "../../../guest/posix/check_command.ts";
import { TEMPORARY_FOLDER } from "../../../guest/posix/files.ts";
import { DROP_FILE } from "../../../guest/posix/file_scripts.ts";
import { passingName, passingToken } from "../../../guest/passing.ts";
import {
  BECOME_MARKED,
  markedArguments,
  newMark,
  setupFailure,
} from "../../../guest/posix/marked_program.ts";
import { MarkedStream } from "../../../guest/posix/marked_stream.ts";
import { execAfterTidying } from "./exec.ts";
import { writeGuestFile } from "./files.ts";
import type { Sinks } from "./guest_program.ts";
import type { AgentLink } from "./link.ts";
import { runScript, SHELL } from "./program.ts";

const PRIVATE = 0o600;
const DROP_LIMIT_MS = 10_000;

/**
 * Runs a program behind a script that makes it ready. What it reads is copied into a file of the guest first, since
 * the agent can write into no pipe without losing bytes: the program begins when the whole has arrived.
 */
export async function execPrepared(
  link: AgentLink,
  clock: Clock,
  command: GuestCommand,
  sinks: Sinks,
  signal: AbortSignal,
): Promise<GuestExit> {
  checkCommand(command);
  await link.takeSleeper()?.wake(signal);
  await link.traces.tidyUp(link, clock, signal);
  const { stdin, token = passingToken() } = command;
  const input = stdin === undefined ? "" : inputPlace(token);
  const mark = newMark();
  const err = new MarkedStream(mark, sinks.stderr);
  const words = [input, ...markedArguments(mark, command)];
  try {
    if (stdin !== undefined) {
      await writeGuestFile(link, clock, input, stdin, { overwrite: false, mode: PRIVATE, token }, signal);
    }
    const exit = await execAfterTidying(
      link,
      clock,
      { argv: [SHELL, "-c", BECOME_MARKED, "hvlab", ...words] },
      { stdout: sinks.stdout, stderr: (bytes) => err.take(bytes) },
      signal,
    );
    await err.end();
    if (err.failed !== undefined) throw setupFailure(err.failed, command);
    return exit;
  } catch (error) {
    if (input !== "") await drop(link, clock, input);
    throw error;
  }
}

/** Where a program's input is until the program has it: whole, and on its way there. */
export function inputPlaces(token: string): string[] {
  const input = inputPlace(token);
  return [passingName(input, token), input];
}

function inputPlace(token: string): string {
  return passingName(`${TEMPORARY_FOLDER}/input`, token);
}

/** A program that was started has its input already, and the name is gone. */
async function drop(link: AgentLink, clock: Clock, path: string): Promise<void> {
  using limit = startDeadline(clock, DROP_LIMIT_MS);
  try {
    await runScript(link, clock, DROP_FILE, [path], limit.signal);
  } catch {
    return;
  }
}
