/** The one connection of this process to a VM's guest agent, shared fairly with other processes. */

import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import { type FairHold, FairLock } from "../../../host/fair_lock.ts";
import type { Host } from "../../../host/host.ts";
import { isQueueFull } from "../../../host/sockets.ts";
import type { GuestCommand, GuestExit } from "../../../guest/channel.ts";
import { guestCrashed, linkBroke, lostWithinWork, notReady } from "./errors.ts";
import { type AgentCommand, AgentLost, AgentSilence, type AnswersTo } from "./protocol.ts";
import type { AgentRounds, Round } from "./rounds.ts";
import { AgentSession } from "./session.ts";
import { AgentTraces } from "./traces.ts";

/** Where a VM's agent is reached, and how to ask whether its guest has crashed. */
export interface AgentAddress {
  host: Host;
  /** The unix socket of the agent's port; QEMU serves one client at a time. */
  socket: string;
  /** The lock file that guards the socket; `<lock>.queue` and `<lock>.trace-*` beside it are used as well. */
  lock: string;
  isCrashed: (signal: AbortSignal) => Promise<{ reason: string } | undefined>;
  /** Whether the machine has ended, so that nobody will listen on the socket any more. */
  isOver?: (signal: AbortSignal) => Promise<boolean>;
}

/** A guest that has not been told the time yet, and who can tell it. */
export interface Sleeper {
  wake(signal: AbortSignal): Promise<void>;
  /** Wakes it and starts a program in the same breath; `undefined` when the program has to be started otherwise. */
  wakeWith(command: GuestCommand, signal: AbortSignal): Promise<WokenProgram | undefined>;
}

/** A program that a {@link Sleeper} has become, or wanted to become. */
export interface WokenProgram {
  pid: number;
  /** The handles of its output streams. */
  stdout: { writer: number; reader: number };
  stderr: { writer: number; reader: number };
  /** Whether it was that program which ended so. */
  wasStarted(exit: GuestExit, signal: AbortSignal): Promise<boolean>;
  /** Wakes the guest once more in another way, after a program that was not started. */
  wakeOtherwise(signal: AbortSignal): Promise<void>;
}

/** An answer takes milliseconds; a guest that has stalled this long is not coming back within a call. */
const ANSWER_LIMIT_MS = 30_000;
/** Longer than an agent needs to answer on a busy host, shorter than a boot. */
const PATIENCE_MS = 10_000;
/** With something begun in the guest it pays to wait longer, for instance for others to take their turns. */
const PATIENCE_WITHIN_WORK_MS = 60_000;
/** How long others wait at least while we are busy: each change of hands costs the agent's pause of 100 ms. */
const TURN_MS = 300;
/** A silence in which others may try their luck: shorter than that, two waiters would only undo each other's start. */
const GIVE_WAY_MS = 5_000;
/** Between two looks whether somebody waits. */
const LOOK_MS = 25;
/** The connection outlives a call by this much, since the next one would find the agent in its pause. */
const LINGER_MS = 300;
const CRASH_LOOK_LIMIT_MS = 2_000;
/** Between two attempts to reach a socket that is not there yet. */
const RECONNECT_MS = 5;

/**
 * Requests to one agent. The connection is made when it is needed, kept while it is used, and given up as soon as
 * another process waits for it and our turn has lasted a moment: the agent pauses for about 100 ms after each
 * client (measured on QEMU 7.2), so a connection for each request would be slow, and one for a whole command
 * would lock the others out.
 */
export class AgentLink implements AgentRounds {
  /** What the calls to this agent keep for the case that they are killed. */
  readonly traces: AgentTraces;
  readonly #address: AgentAddress;
  readonly #lock: FairLock;
  #open: OpenConnection | undefined;
  #turns: Promise<void> = Promise.resolve();
  #waiting = 0;
  #lastUse = 0;
  #sleeper: Sleeper | undefined;
  #lastLook = 0;

  constructor(address: AgentAddress) {
    this.#address = address;
    this.#lock = new FairLock(address.host.locks, address.lock);
    this.traces = new AgentTraces(address.host, address.lock);
  }

  /** Sends requests as one round and gives their answers in order; calls of this process take turns. */
  async ask<const T extends readonly AgentCommand[]>(commands: T, round: Round): Promise<AnswersTo<T>> {
    return await this.#inTurn(round.signal, () => this.#askInTurn(commands, round));
  }

  /** Waits until the agent answers, so that the next requests meet one that does. */
  async connect(signal: AbortSignal, patienceMs?: number): Promise<void> {
    await this.#inTurn(
      signal,
      () => this.#connect(patienceMs === undefined ? { signal } : { signal, patienceMs }),
    );
  }

  /** The guest sleeps; whoever uses it first wakes it. */
  lull(sleeper: Sleeper): void {
    this.#sleeper = sleeper;
  }

  /** The sleeper, for who will wake it: it is handed out once. */
  takeSleeper(): Sleeper | undefined {
    const sleeper = this.#sleeper;
    this.#sleeper = undefined;
    return sleeper;
  }

  /** Gives the connection back, unless a call of this process is using it. */
  close(): void {
    if (this.#waiting === 0) this.#disconnect();
  }

  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const before = this.#turns;
    const turn = Promise.withResolvers<void>();
    this.#turns = turn.promise;
    try {
      await before;
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#waiting--;
      this.#lastUse = this.#now();
      turn.resolve();
    }
  }

  async #askInTurn<T extends readonly AgentCommand[]>(commands: T, round: Round): Promise<AnswersTo<T>> {
    const { limitMs = ANSWER_LIMIT_MS, signal, changes = false } = round;
    if (await this.#isOthersTurn()) this.#disconnect();
    const session = await this.#connect(round).catch((error) => {
      throw changes ? lostWithinWork(commands, error) : error;
    });
    try {
      return await session.ask(commands, { limitMs, signal, whileSilent: () => this.#throwCrash() });
    } catch (error) {
      if (error instanceof AgentLost) this.#disconnect();
      else if (!(error instanceof AgentSilence)) throw error;
      await this.#throwCrash();
      throw linkBroke(commands, error, changes);
    }
  }

  /** Brings up a session that is in step with the agent, however often it has to be tried. */
  async #connect({ signal, changes = false, ...round }: Round): Promise<AgentSession> {
    const patienceMs = round.patienceMs ?? (changes ? PATIENCE_WITHIN_WORK_MS : PATIENCE_MS);
    let started = this.#now();
    const inLineUntil = started + PATIENCE_WITHIN_WORK_MS;
    for (;;) {
      const asked = this.#now();
      const reached = this.#open ?? await this.#reach(signal);
      const open = reached === "busy" ? undefined : reached;
      this.#open = open;
      // Standing in line behind other processes is no silence of the guest's.
      if (asked < inLineUntil) started += this.#now() - asked;
      if (open !== undefined && await this.#getInStep(open.session, started + patienceMs, signal)) {
        return open.session;
      }
      await this.#throwCrash();
      // Something has begun in the guest, which is gone with its machine.
      const isInVain = reached === undefined && changes && await this.#isOver();
      const waited = this.#now() - started;
      if (isInVain || waited >= patienceMs) throw notReady(waited, patienceMs, reached !== undefined);
      if (await this.#isOthersTurn()) this.#disconnect();
      await this.#address.host.clock.sleep(RECONNECT_MS, signal);
    }
  }

  /** Takes the lock and connects; `undefined` when nobody listens on the socket, "busy" when too many wait there. */
  async #reach(signal: AbortSignal): Promise<OpenConnection | "busy" | undefined> {
    const hold = await this.#takeLock(signal);
    if (hold === undefined) return undefined;
    try {
      const connection = await this.#address.host.sockets.connectUnix(this.#address.socket);
      if (connection !== undefined) {
        const watch = new AbortController();
        this.#lastUse = this.#now();
        this.#watchOthers(watch.signal).catch(() => {});
        const session = new AgentSession(connection, this.#address.host.clock);
        return { session, hold, watch, since: this.#now() };
      }
    } catch (error) {
      hold.release();
      // A QEMU that stands still takes nobody off its queue; who gave up before us lies in it still.
      if (isQueueFull(error)) return "busy";
      throw error;
    }
    hold.release();
    return undefined;
  }

  /** `undefined` when the lock's folder is gone, and with it whoever listened. */
  async #takeLock(signal: AbortSignal): Promise<FairHold | undefined> {
    try {
      return await this.#lock.take(signal);
    } catch (error) {
      if (error instanceof HvError && error.code === "hv.not_found") return undefined;
      throw error;
    }
  }

  async #getInStep(session: AgentSession, end: number, signal: AbortSignal): Promise<boolean> {
    if (session.inStep) return true;
    const started = this.#now();
    const whileSilent = async (): Promise<void> => {
      await this.#throwCrash();
      if (this.#now() - started >= GIVE_WAY_MS && await this.#open?.hold.isWanted()) {
        throw new AgentSilence("another process waits for the agent");
      }
    };
    try {
      await session.sync({ limitMs: end - this.#now(), signal, whileSilent });
      if (this.#open !== undefined) this.#open.since = this.#now();
      return true;
    } catch (error) {
      if (error instanceof AgentLost) this.#disconnect();
      else if (!(error instanceof AgentSilence)) throw error;
      return false;
    }
  }

  async #isOthersTurn(): Promise<boolean> {
    const now = this.#now();
    if (this.#open === undefined || now - this.#open.since < TURN_MS || now - this.#lastLook < LOOK_MS) {
      return false;
    }
    this.#lastLook = now;
    return await this.#open.hold.isWanted();
  }

  /** Between rounds: gives the connection to whoever waits, and up when nobody uses it. */
  async #watchOthers(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#address.host.clock.sleep(LOOK_MS, signal);
      const othersTurn = this.#waiting === 0 && await this.#isOthersTurn();
      // Looked at again, since a round may have begun while the look aside took its time.
      if (this.#waiting > 0) continue;
      if (othersTurn || this.#now() - this.#lastUse >= LINGER_MS) this.#disconnect();
    }
  }

  #disconnect(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.watch.abort();
    open?.session.close();
    open?.hold.release();
  }

  /** Throws `hv.guest_crashed` when the guest is known to have crashed; a look that fails says nothing. */
  async #throwCrash(): Promise<void> {
    using limit = startDeadline(this.#address.host.clock, CRASH_LOOK_LIMIT_MS);
    let crash: { reason: string } | undefined;
    try {
      crash = await this.#address.isCrashed(limit.signal);
    } catch {
      return;
    }
    if (crash !== undefined) throw guestCrashed(crash.reason);
  }

  /** Whether the machine is known to have ended; a look that fails says nothing. */
  async #isOver(): Promise<boolean> {
    using limit = startDeadline(this.#address.host.clock, CRASH_LOOK_LIMIT_MS);
    try {
      return await this.#address.isOver?.(limit.signal) ?? false;
    } catch {
      return false;
    }
  }

  #now(): number {
    return this.#address.host.clock.monotonic();
  }
}

interface OpenConnection {
  session: AgentSession;
  hold: FairHold;
  /** Ends the watch over this connection. */
  watch: AbortController;
  /** Since when it is our turn. */
  since: number;
}
