/** Running a program in a guest through its agent: exact arguments, streams apart, nothing left behind. */

import type { Clock } from "../../../base/clock.ts";
import { HvError } from "../../../base/errors.ts";
import type { GuestCommand, GuestExit } from "../../../guest/channel.ts";
import { isUnreachable } from "../../../guest/unreachable.ts";
import { checkCommand, startArguments } from "./arguments.ts";
import { GuestProgram, NotStarted, type Sinks } from "./guest_program.ts";
import type { AgentLink } from "./link.ts";
import type { StartedProgram } from "./opening.ts";
import { startScript } from "./program.ts";
import { FIFO_FOLDERS, START_PROGRAM } from "./scripts.ts";
import { NoPlace } from "./setup_errors.ts";
import { PIPES, STREAM_PLACES, type StreamPlace } from "./streams.ts";
import type { OpenTrace } from "./traces.ts";

/**
 * Runs a program to its end. What its children write after it has ended is not waited for, since a daemon may
 * keep the streams for ever; they then meet a closed pipe.
 */
export async function execThroughAgent(
  link: AgentLink,
  clock: Clock,
  command: GuestCommand,
  sinks: Sinks,
  signal: AbortSignal,
): Promise<GuestExit> {
  checkCommand(command);
  await link.traces.tidyUp(link, clock, signal);
  return await execAfterTidying(link, clock, command, sinks, signal);
}

/** The same for a call that has checked what it runs and tidied up already. */
export async function execAfterTidying(
  link: AgentLink,
  clock: Clock,
  command: GuestCommand,
  sinks: Sinks,
  signal: AbortSignal,
): Promise<GuestExit> {
  const woken = await link.takeSleeper()?.wakeWith(command, signal);
  if (woken !== undefined) {
    try {
      const started = { pid: woken.pid, place: PIPES, startTookMs: 0 };
      const trace = await link.traces.open();
      return await new GuestProgram(link, clock, started, trace, woken).follow(command, sinks, signal);
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      await woken.wakeOtherwise(signal);
    }
  }
  return await startAndFollow(link, clock, command, sinks, signal);
}

async function startAndFollow(
  link: AgentLink,
  clock: Clock,
  command: GuestCommand,
  sinks: Sinks,
  signal: AbortSignal,
): Promise<GuestExit> {
  let reason: unknown;
  for (const makePlace of STREAM_PLACES) {
    const place = makePlace();
    try {
      const { trace, ...started } = await start(link, clock, place, command, signal);
      return await new GuestProgram(link, clock, started, trace).follow(command, sinks, signal);
    } catch (error) {
      if (!(error instanceof NoPlace)) throw error;
      reason = error.message;
    }
  }
  throw new HvError(
    "hv.unsupported",
    `The guest has no place for a program's streams: its shell has no pipes, and ${
      FIFO_FOLDERS.join(", ")
    } take no FIFOs`,
    { hint: "Make /tmp writable in the guest", context: { reason: String(reason) } },
  );
}

/** Starts the program. Its trace says so before: nobody knows its process id until the guest has answered. */
async function start(
  link: AgentLink,
  clock: Clock,
  place: StreamPlace,
  command: GuestCommand,
  signal: AbortSignal,
): Promise<StartedProgram & { trace: OpenTrace }> {
  const trace = await connectWithTrace(link, signal);
  const { base } = place;
  trace.note({ base, handles: [] });
  const before = clock.monotonic();
  try {
    const pid = await startScript(link, START_PROGRAM, startArguments(trace.id, base, command), signal);
    return { pid, place, startTookMs: clock.monotonic() - before, trace };
  } catch (error) {
    if (isUnreachable(error)) trace.leave();
    else await trace.remove();
    throw error;
  }
}

/** Begins to keep a trace while the agent is being reached. */
async function connectWithTrace(link: AgentLink, signal: AbortSignal): Promise<OpenTrace> {
  const opening = link.traces.open();
  try {
    const [trace] = await Promise.all([opening, link.connect(signal)]);
    return trace;
  } catch (error) {
    await (await opening).remove();
    throw error;
  }
}
