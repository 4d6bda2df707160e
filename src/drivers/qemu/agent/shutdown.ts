/** Asking the guest's agent to shut the guest down: the one request of the agent that belongs to a VM's power. */

import { isPlainObject, type JsonObject, parseJson } from "../../../base/json.ts";
import { startDeadline } from "../../../base/deadline.ts";
import { type FairHold, FairLock } from "../../../host/fair_lock.ts";
import type { Host } from "../../../host/host.ts";
import { type Connection, isQueueFull } from "../../../host/sockets.ts";
import { settlesWithin } from "../patience.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

const TURN_LIMIT_MS = 2_000;
/** An agent that is up answers within milliseconds, on a busy host within a second. */
const SYNC_LIMIT_MS = 1_500;
/** The agent answers a shutdown only to refuse it. */
const REFUSAL_LIMIT_MS = 300;
/** Ends whatever a client before us left half said; the answer to it is an error that we skip. */
const RESET = 0xff;

/** Whether an agent took the request. `false` means that nobody answered or that the guest forbids it. */
export async function askGuestToShutDown(
  host: Host,
  runtime: RuntimeFolder,
  signal: AbortSignal,
): Promise<boolean> {
  if (await host.files.stat(runtime.agent) === undefined) return false;
  using turn = await takeTurn(host, runtime.agentLock, signal);
  if (turn === undefined) return false;
  using connection = await connect(host, runtime.agent);
  if (connection === undefined) return false;
  const answers = new Answers(connection);
  try {
    const sync = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
    await send(connection, { execute: "guest-sync-delimited", arguments: { id: sync } }, true);
    const isSynced = answers.waitFor((answer) => answer.return === sync);
    if (!await settlesWithin(host.clock, isSynced, SYNC_LIMIT_MS, signal) || !await isSynced) return false;
    await send(connection, { execute: "guest-shutdown", arguments: { mode: "powerdown" } }, false);
    const isRefused = answers.waitFor((answer) => "error" in answer);
    if (!await settlesWithin(host.clock, isRefused, REFUSAL_LIMIT_MS, signal)) return true;
    return !await isRefused;
  } finally {
    connection.close();
    await answers.ended;
  }
}

/** The agent may be at work for another call, which hands over within a moment when it sees us wait. */
async function takeTurn(host: Host, path: string, signal: AbortSignal): Promise<FairHold | undefined> {
  using limit = startDeadline(host.clock, TURN_LIMIT_MS, signal);
  try {
    return await new FairLock(host.locks, path).take(limit.signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** A QEMU that stands still takes nobody off its queue, and an agent behind a full one does not answer either. */
async function connect(host: Host, path: string): Promise<Connection | undefined> {
  try {
    return await host.sockets.connectUnix(path);
  } catch (error) {
    if (isQueueFull(error)) return undefined;
    throw error;
  }
}

async function send(connection: Connection, request: JsonObject, reset: boolean): Promise<void> {
  const text = new TextEncoder().encode(JSON.stringify(request) + "\n");
  await connection.write(reset ? Uint8Array.of(RESET, ...text) : text);
}

/** The agent's answers, one waiter at a time. */
class Answers {
  readonly ended: Promise<void>;
  #isWanted: (answer: JsonObject) => boolean = () => false;
  #found: (found: boolean) => void = () => {};

  constructor(connection: Connection) {
    this.ended = this.#read(connection);
  }

  /** Resolves with true when such an answer comes, with false when the link ends first. */
  waitFor(isWanted: (answer: JsonObject) => boolean): Promise<boolean> {
    this.#isWanted = isWanted;
    return new Promise((resolve) => this.#found = resolve);
  }

  async #read(connection: Connection): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const bytes = await connection.read().catch(() => null);
      if (bytes === null) break;
      const lines = (text + decoder.decode(bytes, { stream: true })).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const answer = readAnswer(line);
        if (answer !== undefined && this.#isWanted(answer)) this.#found(true);
      }
    }
    this.#found(false);
  }
}

/** A line may begin with what is left of others' conversations; the marker 0xFF, decoded as U+FFFD, ends that. */
function readAnswer(line: string): JsonObject | undefined {
  try {
    const value = parseJson(line.slice(line.lastIndexOf("\ufffd") + 1));
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
