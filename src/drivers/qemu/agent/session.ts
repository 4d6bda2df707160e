/** One conversation with QEMU's guest agent over one connection. */

import type { Clock } from "../../../base/clock.ts";
import type { Connection } from "../../../host/sockets.ts";
import {
  type AgentAnswer,
  type AgentCommand,
  AgentLost,
  AgentSilence,
  type AnswersTo,
  decodeAnswer,
  encodeCommands,
  encodeSync,
  LineBuffer,
} from "./protocol.ts";

/** How long to wait, and what to look at meanwhile. */
export interface Wait {
  /** Milliseconds until {@link AgentSilence}; `Infinity` leaves it to the signal. */
  limitMs: number;
  signal: AbortSignal;
  /** Called about once a second while nothing comes; what it throws ends the wait. */
  whileSilent?: (() => Promise<void>) | undefined;
}

const LOOK_AROUND_MS = 1000;

/** An agent that was restarted has lost the question: it is put again after this time. */
const ASK_AGAIN_MS = 5000;

/**
 * Requests and answers, in order. The first request, and the first after a wait that ended early, is preceded by
 * a sync under a random id, so that answers to somebody else, or to what we gave up, are never taken for ours.
 * One call at a time: the caller sees to it.
 */
export class AgentSession {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #lines = new LineBuffer();
  #reading: Promise<Uint8Array | null> | undefined;
  #inStep = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Whether the next answer is sure to belong to the next request. */
  get inStep(): boolean {
    return this.#inStep;
  }

  /** Sends all requests at once and gives their answers in the same order; a refused one does not stop the next. */
  async ask<T extends readonly AgentCommand[]>(commands: T, wait: Wait): Promise<AnswersTo<T>> {
    if (!this.#inStep) await this.sync(wait);
    this.#inStep = false;
    const end = this.#clock.monotonic() + wait.limitMs;
    await this.#send(encodeCommands(commands));
    const answers: AgentAnswer[] = [];
    while (answers.length < commands.length) {
      const answer = decodeAnswer(await this.#nextLine(end, wait));
      if (answer !== undefined) answers.push(answer);
    }
    if (!isAnswerTo(commands, answers)) throw new AgentLost("the agent's answers do not fit");
    this.#inStep = true;
    return answers;
  }

  /** Waits until the agent answers a fresh question; a guest that has yet to boot finds the question waiting. */
  async sync(wait: Wait): Promise<void> {
    this.#inStep = false;
    const end = this.#clock.monotonic() + wait.limitMs;
    for (;;) {
      const id = randomId();
      await this.#send(encodeSync(id));
      const askAgain = Math.min(end, this.#clock.monotonic() + ASK_AGAIN_MS);
      try {
        for (;;) {
          const answer = decodeAnswer(await this.#nextLine(askAgain, wait));
          if (!answer?.ok || answer.value !== id) continue;
          this.#inStep = true;
          return;
        }
      } catch (error) {
        if (!(error instanceof AgentSilence) || askAgain >= end) throw error;
      }
    }
  }

  close(): void {
    this.#inStep = false;
    this.#connection.close();
    this.#reading?.catch(() => {});
  }

  async #send(bytes: Uint8Array): Promise<void> {
    try {
      await this.#connection.write(bytes);
    } catch (error) {
      throw new AgentLost("the connection to the agent ended", { cause: error });
    }
  }

  async #nextLine(end: number, wait: Wait): Promise<Uint8Array> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return line;
      const bytes = await this.#read(end, wait);
      if (bytes === null) throw new AgentLost("the connection to the agent ended");
      this.#lines.push(bytes);
    }
  }

  /** A read that has begun cannot be taken back; when the wait ends first, the next call goes on with it. */
  async #read(end: number, { signal, whileSilent }: Wait): Promise<Uint8Array | null> {
    for (;;) {
      signal.throwIfAborted();
      const left = end - this.#clock.monotonic();
      if (left <= 0) throw new AgentSilence("the agent does not answer");
      this.#reading ??= this.#connection.read();
      // Not AbortSignal.any: thousands of reads would leave thousands of followers at the caller's signal.
      const ended = new AbortController();
      const onAbort = (): void => ended.abort(signal.reason);
      signal.addEventListener("abort", onAbort);
      const pause = this.#clock.sleep(Math.min(left, LOOK_AROUND_MS), ended.signal);
      try {
        const first = await Promise.race([this.#reading.then((bytes) => ({ bytes })), pause]);
        if (first !== undefined) {
          this.#reading = undefined;
          return first.bytes;
        }
      } catch (error) {
        signal.throwIfAborted();
        this.#reading = undefined;
        throw new AgentLost("the connection to the agent failed", { cause: error });
      } finally {
        signal.removeEventListener("abort", onAbort);
        ended.abort();
        pause.catch(() => {});
      }
      await whileSilent?.();
    }
  }
}

function randomId(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

function isAnswerTo<T extends readonly AgentCommand[]>(
  commands: T,
  answers: AgentAnswer[],
): answers is AnswersTo<T> & AgentAnswer[] {
  return answers.length === commands.length;
}
