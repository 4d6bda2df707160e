/** Opening the streams of a program that waits at its gate, and letting it begin. */

import type { Clock } from "../../../base/clock.ts";
import { refused } from "./errors.ts";
import { openHandles } from "./handles.ts";
import { GuestPipe } from "./pipe.ts";
import { Pace, type ProgramStatus, readStatus, statusCommand } from "./program.ts";
import type { AgentRounds } from "./rounds.ts";
import { NoPlace } from "./setup_errors.ts";
import type { StreamPlace } from "./streams.ts";

/** A look that comes too early takes the guest's time from what it waits for. */
const SHORTEST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;

/** A program that waits in the guest at its gate. */
export interface StartedProgram {
  pid: number;
  place: StreamPlace;
  /** How long the guest took to start it: what it does next takes about as long. */
  startTookMs: number;
}

/** How long to leave a guest alone that has been given something to start: some share of what the last start took. */
export function waitAfterStart(startTookMs: number): number {
  return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, startTookMs * 0.6));
}

/** The agent's words for a stream that is not there yet. */
const NOT_YET = /no such file/i;

/** The line that a program waits for. */
const GO = new TextEncoder().encode("\n");

/** The output of a program. */
export interface ProgramStreams {
  out: GuestPipe;
  err: GuestPipe;
}

/** The handles that a program's output needs. */
const OUTPUTS = ["out writer", "out reader", "err writer", "err reader"] as const;

/**
 * Opens the streams as soon as they are there, and puts every handle into `handles`; `onOpened` is called whenever some
 * came. Answers the program's status when it ended instead of waiting. Throws {@link NoPlace} where the agent cannot open
 * them.
 */
export async function openStreams(
  link: AgentRounds,
  clock: Clock,
  { pid, place, startTookMs }: StartedProgram,
  handles: number[],
  onOpened: () => void,
  signal: AbortSignal,
): Promise<ProgramStreams & { gate: number } | { ended: ProgramStatus }> {
  const pace = new Pace(clock, waitAfterStart(startTookMs));
  const wanted = filesOf(place, pid);
  // What is open already stays so: a stream that came to be is the program's for good.
  const opened = new Map<string, number>();
  for (;;) {
    await pace.wait(signal);
    const missing = wanted.filter(({ name }) => !opened.has(name));
    const before = handles.length;
    const answers = await openHandles(link, handles, missing);
    if (handles.length > before) onOpened();
    for (const [index, { name }] of missing.entries()) {
      const answer = answers[index];
      if (answer?.ok && typeof answer.value === "number") opened.set(name, answer.value);
    }
    const streams = streamsOf(link, opened);
    const gate = opened.get("gate");
    if (streams !== undefined && gate !== undefined) return { ...streams, gate };
    const [seen] = await link.ask([statusCommand(pid)], { signal, changes: true });
    const status = readStatus(pid, seen);
    if (status.exit !== undefined) return { ended: status };
    const failure = answers.find((answer) => !answer.ok);
    if (failure?.ok === false && !NOT_YET.test(failure.text)) throw new NoPlace(failure.text);
  }
}

/** Gives the program the line that it waits for, and closes the gate: the agent writes what it holds back as it does so. */
export async function letBegin(link: AgentRounds, gate: number, signal: AbortSignal): Promise<void> {
  const [write, close] = await link.ask([
    { name: "guest-file-write", arguments: { handle: gate, "buf-b64": GO.toBase64() } },
    { name: "guest-file-close", arguments: { handle: gate } },
  ], { signal, changes: true });
  for (const answer of [write, close]) if (!answer.ok) throw refused("guest-file-write", answer);
}

function streamsOf(link: AgentRounds, opened: ReadonlyMap<string, number>): ProgramStreams | undefined {
  const [outWriter, outReader, errWriter, errReader] = OUTPUTS.map((name) => opened.get(name));
  if (
    outWriter === undefined || outReader === undefined || errWriter === undefined || errReader === undefined
  ) return undefined;
  return {
    out: new GuestPipe(link, { writer: outWriter, reader: outReader }),
    err: new GuestPipe(link, { writer: errWriter, reader: errReader }),
  };
}

/** "r+" never waits. "r" does not either, because the same pipe is open for writing by then. */
function filesOf(place: StreamPlace, pid: number): { name: string; path: string; mode: string }[] {
  return [
    { name: "out writer", path: place.pathOf("out", pid), mode: "r+" },
    { name: "out reader", path: place.pathOf("out", pid), mode: "r" },
    { name: "err writer", path: place.pathOf("err", pid), mode: "r+" },
    { name: "err reader", path: place.pathOf("err", pid), mode: "r" },
    { name: "gate", path: place.pathOf("gate", pid), mode: "r+" },
  ];
}
