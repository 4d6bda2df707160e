/** Asking a guest agent: what whoever works in the guest through it needs of the link. */

import type { AgentCommand, AnswersTo } from "./protocol.ts";

/** The bounds of one round of requests. */
export interface Round {
  signal: AbortSignal;
  /** How long each answer may take. */
  limitMs?: number;
  /** How long a guest that does not answer, or not any more, is waited for; `Infinity` leaves it to the signal. */
  patienceMs?: number;
  /** Whether something in the guest hangs on the answer, so that its loss is `hv.outcome_unknown`. */
  changes?: boolean;
}

/** Who can be asked. */
export interface AgentRounds {
  /** Sends requests as one round and gives their answers in order; calls of this process take turns. */
  ask<const T extends readonly AgentCommand[]>(commands: T, round: Round): Promise<AnswersTo<T>>;
  /** Waits until the agent answers, so that the next requests meet one that does. */
  connect(signal: AbortSignal, patienceMs?: number): Promise<void>;
}
