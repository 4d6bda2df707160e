/** Running a program in a guest through its agent: exact arguments, streams apart, nothing left behind. */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import type { ByteSink, GuestCommand, GuestExit } from "../../../guest/channel.ts";
import { withProgramEnd } from "../../../guest/ended_program.ts";
import { checkCommand, startArguments } from "./arguments.ts";
import { isUnreachable } from "./errors.ts";
import { closeHandles } from "./handles.ts";
import type { AgentLink, WokenProgram } from "./link.ts";
import {
  letBegin,
  openStreams,
  type ProgramStreams,
  type StartedProgram,
  waitAfterStart,
} from "./opening.ts";
import { GuestPipe } from "./pipe.ts";
import { Pace, type ProgramStatus, readStatus, runScript, startScript, statusCommand } from "./program.ts";
import { END_PROGRAM, FIFO_FOLDERS, START_PROGRAM } from "./scripts.ts";
import { NoPlace, setupFailure } from "./setup_errors.ts";
import { PIPES, STREAM_PLACES, type StreamPlace } from "./streams.ts";
import type { OpenTrace } from "./traces.ts";

/** How long ending a program may take after the call that wanted it is over. */
const END_LIMIT_MS = 20_000;

/** Where a program's bytes go. */
export interface Sinks {
  stdout: ByteSink;
  stderr: ByteSink;
}

/** The guest woke up, but the program that it was to start with could not be run just so. */
class NotStarted extends Error {
  override readonly name = "NotStarted";
}

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
      await link.connect(signal);
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

/** Starts the program, and begins to keep its trace while the guest is at that. */
async function start(
  link: AgentLink,
  clock: Clock,
  place: StreamPlace,
  command: GuestCommand,
  signal: AbortSignal,
): Promise<StartedProgram & { trace: OpenTrace }> {
  const before = clock.monotonic();
  const opening = link.traces.open();
  try {
    const pid = await startScript(link, START_PROGRAM, startArguments(place.base, command), signal);
    const startTookMs = clock.monotonic() - before;
    return { pid, place, startTookMs, trace: await opening };
  } catch (error) {
    await (await opening).remove();
    throw error;
  }
}

/** One started program, with what its streams go through. */
class GuestProgram {
  readonly #link: AgentLink;
  readonly #clock: Clock;
  readonly #started: StartedProgram;
  readonly #trace: OpenTrace;
  readonly #handles: number[] = [];
  readonly #woken: WokenProgram | undefined;
  #exit: GuestExit | undefined;

  constructor(
    link: AgentLink,
    clock: Clock,
    started: StartedProgram,
    trace: OpenTrace,
    woken?: WokenProgram,
  ) {
    this.#trace = trace;
    this.#woken = woken;
    this.#link = link;
    this.#clock = clock;
    this.#started = started;
  }

  async follow(command: GuestCommand, sinks: Sinks, signal: AbortSignal): Promise<GuestExit> {
    const trace = this.#trace;
    const note = (): void =>
      trace.note({ pid: this.#started.pid, base: this.#started.place.base, handles: this.#handles });
    let reachable = true;
    try {
      note();
      const { out, err } = this.#adoptWoken() ?? await this.#open(command, note, signal);
      const pace = new Pace(this.#clock);
      for (;;) {
        // In this order: what is inside once the program is seen to have ended is all that it wrote.
        const round = [statusCommand(this.#started.pid), out.probe, err.probe] as const;
        const [status, anyOut, anyErr] = await this.#link.ask(round, { signal, changes: true });
        this.#exit ??= readStatus(this.#started.pid, status).exit;
        const fromOut = await out.drain(anyOut, sinks.stdout, signal);
        const fromErr = await err.drain(anyErr, sinks.stderr, signal);
        const empty = fromOut.empty && fromErr.empty;
        if (this.#exit !== undefined && empty) {
          if (await this.#woken?.wasStarted(this.#exit, signal) === false) throw new NotStarted();
          return this.#exit;
        }
        if (fromOut.bytes + fromErr.bytes > 0) pace.reset();
        if (empty) await pace.wait(signal);
      }
    } catch (error) {
      reachable = !isUnreachable(error);
      if (this.#exit !== undefined || !reachable) throw error;
      throw await this.#end(error);
    } finally {
      if (reachable) {
        await closeHandles(this.#link, this.#clock, this.#handles);
        await trace.remove();
      } else trace.leave();
    }
  }

  /** A program that waited in the guest has its streams open already. */
  #adoptWoken(): ProgramStreams | undefined {
    if (this.#woken === undefined) return undefined;
    return {
      out: new GuestPipe(this.#link, this.#woken.stdout),
      err: new GuestPipe(this.#link, this.#woken.stderr),
    };
  }

  /** Opens the streams as soon as they are there, and then lets the program begin. */
  async #open(
    command: GuestCommand,
    onOpened: () => void,
    signal: AbortSignal,
  ): Promise<ProgramStreams> {
    const opened = await openStreams(this.#link, this.#clock, this.#started, this.#handles, signal);
    if ("ended" in opened) {
      this.#exit = opened.ended.exit;
      throw setupFailure(opened.ended, command);
    }
    onOpened();
    await letBegin(this.#link, opened.gate, signal);
    this.#handles.splice(this.#handles.indexOf(opened.gate), 1);
    await this.#clock.sleep(waitAfterStart(this.#started.startTookMs), signal);
    return opened;
  }

  async #look(signal: AbortSignal): Promise<ProgramStatus> {
    const [answer] = await this.#link.ask([statusCommand(this.#started.pid)], { signal, changes: true });
    return readStatus(this.#started.pid, answer);
  }

  /** Ends the program with all its children; gives the error to throw, which says whether that succeeded. */
  async #end(error: unknown): Promise<unknown> {
    using limit = startDeadline(this.#clock, END_LIMIT_MS);
    let ended = false;
    try {
      const args = [String(this.#started.pid), this.#started.place.base];
      const { exit } = await runScript(this.#link, this.#clock, END_PROGRAM, args, limit.signal);
      ended = exit.exit_code === 0;
      await this.#look(limit.signal);
    } catch {
      // What counts is the failure that led here; `guest_program_ended` tells how far this came.
    }
    return error instanceof HvError ? withProgramEnd(error, this.#started.pid, ended) : error;
  }
}
