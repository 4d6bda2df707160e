/** QEMU's monitor protocol: one JSON object a line, answers matched by id, events in between. */

import type { Clock } from "../../../base/clock.ts";
import { HvError } from "../../../base/errors.ts";
import { isPlainObject, type JsonObject, type JsonValue, parseJson } from "../../../base/json.ts";
import type { Connection } from "../../../host/sockets.ts";
import { CommandLimits } from "./limits.ts";

/** Something that QEMU reports by itself, such as `SHUTDOWN` or `GUEST_PANICKED`. */
export interface QmpEvent {
  name: string;
  data: JsonObject;
  /** When it happened, in milliseconds since 1970; `null` when QEMU did not say. */
  at: number | null;
}

/** Bounds of one command. */
export interface CommandOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait for the answer; {@link COMMAND_LIMIT_MS} when left out. */
  timeoutMs?: number;
  /** Sends it past the queue of ordinary commands; the session must have been opened with `outOfBand`. */
  outOfBand?: boolean;
}

export interface SessionOptions {
  signal?: AbortSignal | undefined;
  /** Asks for commands that pass a blocked main loop. */
  outOfBand?: boolean;
  /** How long to wait for the greeting, and for the negotiation behind it unless that has longer anyway. */
  greetingMs?: number;
  /** Called for each event from the very first one on. */
  onEvent?: (event: QmpEvent) => void;
}

/** Commands that read or switch something answer within milliseconds; a snapshot asks for more. */
export const COMMAND_LIMIT_MS = 10_000;
const GREETING_LIMIT_MS = 2_000;
/** The longest answer of QEMU 7.2 is its schema with 207 KB. */
const LINE_LIMIT = 64 * 1024 * 1024;

const encoder = new TextEncoder();

interface Waiting {
  command: string;
  settle(answer: JsonValue): void;
  fail(error: HvError): void;
}

/** One negotiated conversation with a monitor. */
export class QmpSession implements Disposable {
  readonly #connection: Connection;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: QmpEvent) => void>();
  readonly #greeted = Promise.withResolvers<void>();
  readonly #limits: CommandLimits;
  /** Resolves when the conversation is over, whoever ended it. */
  readonly ended: Promise<void>;
  #open = true;
  #next = 0;
  #text = "";

  private constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#limits = new CommandLimits(clock);
    this.ended = this.#readToTheEnd();
  }

  /**
   * Waits for the greeting and negotiates; the monitor is ready only once that command has been answered, since
   * QEMU greets before the machine exists. The connection is closed on failure. Throws `hv.conflict` with the
   * reason `monitor_busy` when no greeting comes: a monitor serves one client, and others hear nothing.
   */
  static async open(connection: Connection, clock: Clock, options: SessionOptions = {}): Promise<QmpSession> {
    const session = new QmpSession(connection, clock);
    if (options.onEvent !== undefined) session.onEvent(options.onEvent);
    try {
      const limit = options.greetingMs ?? GREETING_LIMIT_MS;
      await within(clock, limit, options.signal, session.#greeted.promise, monitorBusy);
      const enable = options.outOfBand ? { enable: ["oob"] } : undefined;
      // Whoever is patient with a machine that comes into being has to be so here: the greeting does not wait for it.
      const timeoutMs = Math.max(COMMAND_LIMIT_MS, limit);
      await session.command("qmp_capabilities", enable, { signal: options.signal, timeoutMs });
      return session;
    } catch (error) {
      session.close();
      await session.ended;
      throw error;
    }
  }

  /** Whether the conversation is still going on. */
  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Sends one command and returns what QEMU answers. Throws `hv.job_failed` with QEMU's words when it refuses,
   * `hv.unsupported` when this QEMU does not know the command, `hv.timeout` when no answer comes in time, and
   * `hv.outcome_unknown` when the link breaks before the answer.
   */
  async command(name: string, args?: JsonObject, options: CommandOptions = {}): Promise<JsonValue> {
    options.signal?.throwIfAborted();
    if (!this.#open) {
      throw new HvError("hv.unavailable", `Cannot send "${name}": QEMU has closed its monitor`, {
        hint: "See what the VM is now, and try again: hvlab vm get VM",
        context: { command: name },
      });
    }
    const id = ++this.#next;
    const answer = Promise.withResolvers<JsonValue>();
    this.#waiting.set(id, { command: name, settle: answer.resolve, fail: answer.reject });
    const request = {
      [options.outOfBand ? "exec-oob" : "execute"]: name,
      ...(args === undefined ? {} : { arguments: args }),
      id,
    };
    const limit = options.timeoutMs ?? COMMAND_LIMIT_MS;
    const { signal } = options;
    const onAbort = (): void => answer.reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const inTime = this.#limits.begin(limit, () => answer.reject(noAnswer(name, limit)));
    try {
      this.#connection.write(encoder.encode(JSON.stringify(request) + "\n"))
        .catch(() => answer.reject(linkBroken(name)));
      return await answer.promise;
    } finally {
      inTime();
      signal?.removeEventListener("abort", onAbort);
      this.#waiting.delete(id);
    }
  }

  /** Calls the listener for each event from now on; the answer stops that. */
  onEvent(listener: (event: QmpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#open = false;
    this.#limits.close();
    this.#connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #readToTheEnd(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const bytes = await this.#connection.read();
        if (bytes === null) break;
        this.#take(decoder.decode(bytes, { stream: true }));
        if (this.#text.length > LINE_LIMIT) break;
      }
    } catch {
      // A link that fails while reading has ended like one that was closed; those who wait are told below.
    }
    this.close();
    for (const waiting of this.#waiting.values()) waiting.fail(linkBroken(waiting.command));
    this.#greeted.reject(
      new HvError("hv.unavailable", "QEMU closed its monitor before greeting", {
        hint: "See what the VM is now, and try again: hvlab vm get VM",
      }),
    );
    this.#greeted.promise.catch(() => {});
  }

  #take(text: string): void {
    const parts = (this.#text + text).split("\n");
    this.#text = parts.pop() ?? "";
    for (const line of parts) {
      const message = readMessage(line);
      if (message !== undefined) this.#handle(message);
    }
  }

  #handle(message: JsonObject): void {
    if ("QMP" in message) return this.#greeted.resolve();
    if (typeof message.event === "string") return this.#announce(message.event, message);
    const failure = message.error;
    if (typeof message.id !== "number") {
      if (failure !== undefined) this.#failAll(failure);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (failure === undefined) waiting.settle(message.return ?? null);
    else waiting.fail(refusal(waiting.command, failure));
  }

  /** An error without an id says that QEMU could not read what we sent; nobody can tell which request it was. */
  #failAll(failure: JsonValue): void {
    for (const waiting of this.#waiting.values()) waiting.fail(refusal(waiting.command, failure));
  }

  #announce(name: string, message: JsonObject): void {
    const data = isPlainObject(message.data) ? message.data : {};
    const event: QmpEvent = { name, data, at: timeOf(message.timestamp) };
    for (const listener of this.#listeners) listener(event);
  }
}

/** A line that is no JSON object is skipped: whoever waits for an answer that was in it runs into its limit. */
function readMessage(line: string): JsonObject | undefined {
  try {
    const value = parseJson(ABOUT_A_CRASH.test(line) ? withLongNumbersAsText(line) : line);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The event, and what a processor answers later. */
const ABOUT_A_CRASH = /"GUEST_PANICKED"|"hyper-v"/;

/** The parameters of a crash have 64 bits, of which a JSON number keeps 53. */
function withLongNumbersAsText(line: string): string {
  return line.replace(
    /:\s*(\d{16,20})(?=\s*[,}])/g,
    (_, digits: string) => `: "0x${BigInt(digits).toString(16)}"`,
  );
}

function timeOf(stamp: JsonValue | undefined): number | null {
  if (!isPlainObject(stamp)) return null;
  const { seconds, microseconds } = stamp;
  if (typeof seconds !== "number" || typeof microseconds !== "number" || seconds < 0) return null;
  return seconds * 1000 + Math.floor(microseconds / 1000);
}

function refusal(command: string, failure: JsonValue): HvError {
  const { class: kind, desc } = isPlainObject(failure) ? failure : {};
  const words = typeof desc === "string" ? desc : JSON.stringify(failure);
  const code = kind === "CommandNotFound" ? "hv.unsupported" : "hv.job_failed";
  return new HvError(code, `QEMU refused "${command}": ${words}`, {
    hint: "Correct what QEMU names; what the VM is now shows: hvlab vm get VM",
    context: { command, qemu: words, qmp_class: typeof kind === "string" ? kind : "unknown" },
  });
}

function linkBroken(command: string): HvError {
  return new HvError("hv.outcome_unknown", `The link to QEMU broke before it answered "${command}"`, {
    hint: "See what the VM is now before doing anything again: hvlab vm get VM",
    context: { command },
  });
}

function noAnswer(command: string, limitMs: number): HvError {
  return new HvError("hv.timeout", `QEMU did not answer "${command}" within ${limitMs / 1000} s`, {
    hint: "See what the VM is now before doing anything again: hvlab vm get VM",
    context: { command, timeout_ms: limitMs },
  });
}

function monitorBusy(): HvError {
  return new HvError("hv.conflict", "The VM's monitor is busy: it accepts connections and does not answer", {
    hint: "Another program holds the monitor, or QEMU is at work; try again in a moment",
    context: { reason: "monitor_busy", wanted: "idle", found: "busy" },
    retryable: true,
  });
}

/** Waits for the work, no longer than the limit and the signal allow. */
async function within<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: Promise<T>,
  late: () => HvError,
): Promise<T> {
  const timer = new AbortController();
  const onAbort = (): void => timer.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const limit = clock.sleep(limitMs, timer.signal).then(() => Promise.reject(late()));
  try {
    return await Promise.race([work, limit]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
    timer.abort();
    limit.catch(() => {});
    work.catch(() => {});
  }
}
