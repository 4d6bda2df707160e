/** A program that was started in a guest through its agent, followed to its end. */

import type { Clock } from "../../../base/clock.ts";
import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import type { ByteSink, GuestCommand, GuestExit } from "../../../guest/channel.ts";
import { withProgramEnd } from "../../../guest/ended_program.ts";
import { isUnreachable } from "../../../guest/unreachable.ts";
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
import { Pace, type ProgramStatus, readStatus, runScript, statusCommand } from "./program.ts";
import { END_PROGRAM } from "./scripts.ts";
import { setupFailure } from "./setup_errors.ts";
import type { OpenTrace } from "./traces.ts";

/** How long ending a program may take after the call that wanted it is over. */
const END_LIMIT_MS = 20_000;

/** Where a program's bytes go. */
export interface Sinks {
  stdout: ByteSink;
  stderr: ByteSink;
}

/** The guest woke up, but the program that it was to start with could not be run just so. */
export class NotStarted extends Error {
  override readonly name = "NotStarted";
}

/** One started program, with what its streams go through. */
export class GuestProgram {
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

  /** Passes its output on until it ends. What cannot be ended or closed any more is left to the next call. */
  async follow(command: GuestCommand, sinks: Sinks, signal: AbortSignal): Promise<GuestExit> {
    const trace = this.#trace;
    const note = (): void =>
      trace.note({ pid: this.#started.pid, base: this.#started.place.base, handles: this.#handles });
    let isOver = true;
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
      const isLost = isUnreachable(error);
      isOver = this.#exit !== undefined && !isLost;
      if (isOver || isLost) throw error;
      isOver = await this.#end();
      throw error instanceof HvError ? withProgramEnd(error, this.#started.pid, isOver) : error;
    } finally {
      if (isOver && await closeHandles(this.#link, this.#clock, this.#handles)) await trace.remove();
      else trace.leave();
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
    const opened = await openStreams(
      this.#link,
      this.#clock,
      this.#started,
      this.#handles,
      onOpened,
      signal,
    );
    if ("ended" in opened) {
      this.#exit = opened.ended.exit;
      throw setupFailure(opened.ended, command);
    }
    await letBegin(this.#link, opened.gate, signal);
    this.#handles.splice(this.#handles.indexOf(opened.gate), 1);
    await this.#clock.sleep(waitAfterStart(this.#started.startTookMs), signal);
    return opened;
  }

  async #look(signal: AbortSignal): Promise<ProgramStatus> {
    const [answer] = await this.#link.ask([statusCommand(this.#started.pid)], { signal, changes: true });
    return readStatus(this.#started.pid, answer);
  }

  /** Ends the program with all its children. Answers whether it was seen to be gone; a failure here is not told. */
  async #end(): Promise<boolean> {
    using limit = startDeadline(this.#clock, END_LIMIT_MS);
    let ended = false;
    try {
      const args = [String(this.#started.pid), this.#started.place.base];
      const { exit } = await runScript(this.#link, this.#clock, END_PROGRAM, args, limit.signal);
      ended = exit.exit_code === 0;
      await this.#look(limit.signal);
    } catch {
      return ended;
    }
    return ended;
  }
}
