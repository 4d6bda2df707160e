/** Programs that the guest agent starts for us: the requests behind `exec`, and our own small scripts. */

import { HvError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { isPlainObject, type JsonValue } from "../../../base/json.ts";
import type { GuestExit } from "../../../guest/channel.ts";
import { refused } from "./errors.ts";
import { type AgentAnswer, type AgentCommand, bytesIn, numberIn } from "./protocol.ts";
import type { AgentRounds } from "./rounds.ts";

export const SHELL = "/bin/sh";

/** Starting a program is answered at once; a caller's end of patience must not hide which process it became. */
const START_LIMIT_MS = 15_000;
const SHORTEST_POLL_MS = 2;
const LONGEST_POLL_MS = 50;

/** A program's state: `undefined` as `exit` while it runs. Output is what it wrote to the agent's own pipes. */
export interface ProgramStatus {
  exit: GuestExit | undefined;
  stdout: string;
  stderr: string;
}

/** Waits between two looks: short at first, longer while nothing happens. */
export class Pace {
  #next: number;
  readonly #clock: Clock;

  constructor(clock: Clock, first: number = SHORTEST_POLL_MS) {
    this.#clock = clock;
    this.#next = first;
  }

  /** Something happened. */
  reset(): void {
    this.#next = SHORTEST_POLL_MS;
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(this.#next, signal);
    this.#next = Math.min(LONGEST_POLL_MS, this.#next * 1.5);
  }
}

/**
 * Starts one of our scripts and gives its process id. Once sent, the request is not given up when the signal
 * aborts: without the id nobody could end the program.
 */
export async function startScript(
  link: AgentRounds,
  script: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  await link.connect(signal);
  const [answer] = await link.ask([{
    name: "guest-exec",
    arguments: { path: SHELL, arg: ["-c", script, "hvlab", ...args], "capture-output": true },
  }], { signal: new AbortController().signal, limitMs: START_LIMIT_MS, changes: true });
  if (answer.ok) return numberIn(answer.value, "pid");
  throw startFailure(answer);
}

/** The request for a program's state. After the program has ended the agent answers it once. */
export function statusCommand(pid: number): AgentCommand {
  return { name: "guest-exec-status", arguments: { pid } };
}

/** Reads the answer to {@link statusCommand}. */
export function readStatus(pid: number, answer: AgentAnswer): ProgramStatus {
  if (!answer.ok) {
    if (answer.errorClass === "CommandNotFound") throw refused("guest-exec-status", answer);
    throw new HvError("hv.outcome_unknown", `The guest agent no longer knows the program: ${answer.text}`, {
      hint: "The agent or the guest was restarted meanwhile; look at the guest before trying again",
      context: { guest_pid: pid, reason: answer.text },
    });
  }
  const { value } = answer;
  const decoder = new TextDecoder();
  return {
    exit: exitIn(value),
    stdout: decoder.decode(bytesIn(value, "out-data")).trimEnd(),
    stderr: decoder.decode(bytesIn(value, "err-data")).trimEnd(),
  };
}

/** Runs one of our scripts to its end. */
export async function runScript(
  link: AgentRounds,
  clock: Clock,
  script: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ProgramStatus & { exit: GuestExit }> {
  const pid = await startScript(link, script, args, signal);
  const pace = new Pace(clock);
  for (;;) {
    await pace.wait(signal);
    const [answer] = await link.ask([statusCommand(pid)], { signal, changes: true });
    const { exit, ...output } = readStatus(pid, answer);
    if (exit !== undefined) return { exit, ...output };
  }
}

function exitIn(value: JsonValue): GuestExit | undefined {
  if (!isPlainObject(value) || value.exited !== true) return undefined;
  return typeof value.signal === "number"
    ? { exit_code: null, signal: value.signal }
    : { exit_code: numberIn(value, "exitcode"), signal: null };
}

function startFailure(answer: AgentAnswer & { ok: false }): HvError {
  if (answer.errorClass === "CommandNotFound") return refused("guest-exec", answer);
  const context = { reason: answer.text };
  if (/argument list too long/i.test(answer.text)) {
    return new HvError("hv.usage", "The arguments and variables are too long for the guest", {
      hint:
        "Copy long data into a file; Linux takes 128 KiB in one argument and a quarter of the stack in all",
      context,
    });
  }
  if (/failed to execute child/i.test(answer.text)) {
    return new HvError(
      "hv.unsupported",
      `The guest has no "${SHELL}", which its agent needs to run programs`,
      {
        hint:
          `Use a Linux guest with ${SHELL}, mkfifo, rm and setsid, as busybox or coreutils and util-linux bring them`,
        context,
      },
    );
  }
  return refused("guest-exec", answer);
}
