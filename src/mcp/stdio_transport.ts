/**
 * Messages over stdin and stdout, one JSON text a line. Our own transport, because the SDK's drops a broken line in
 * silence, so that the host waits for ever, and writes to a pipe so that a slow reader stops the whole process.
 */

import type { Clock } from "../base/clock.ts";
import { isPlainObject } from "../base/json.ts";
import type { Terminal } from "../host/terminal.ts";
import { findDuplicateName } from "./duplicate_names.ts";
import { type Line, LineSplitter } from "./lines.ts";
import { OpenRequests } from "./open_requests.ts";
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from "./sdk.ts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** How long requests that were read before the end of stdin may take to be answered. */
const LAST_ANSWERS_MS = 300;

/** How long a host that reads nothing may hold up the end. */
const FLUSH_LIMIT_MS = 500;

/** What a transport stands on. */
export interface TransportOptions {
  terminal: Pick<Terminal, "readBytes" | "stdout">;
  clock: Clock;
  /** Called once, when the other side is gone or a write fails. */
  ended: () => void;
}

export class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #terminal: TransportOptions["terminal"];
  readonly #clock: Clock;
  readonly #ended: () => void;
  readonly #open = new OpenRequests();
  #closed = false;
  /** Writes go out one after the other. */
  #writing: Promise<void> = Promise.resolve();

  constructor({ terminal, clock, ended }: TransportOptions) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#ended = ended;
  }

  start(): Promise<void> {
    this.#read().catch((error: unknown) => this.#fail(error));
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    if (!("method" in message) && message.id !== undefined) this.#open.answered(message.id);
    return this.#writing;
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.onclose?.();
      this.#ended();
    }
    return Promise.resolve();
  }

  /** Whether everything handed in so far is written, or nobody is there any more to read it. */
  async flush(): Promise<boolean> {
    const timer = new AbortController();
    const late = this.#clock.sleep(FLUSH_LIMIT_MS, timer.signal).then(() => false, () => false);
    const done = await Promise.race([this.#writing.then(() => true, () => true), late]);
    timer.abort();
    return done;
  }

  async #read(): Promise<void> {
    const lines = new LineSplitter();
    for (let bytes = await this.#next(); bytes !== null; bytes = await this.#next()) {
      for (const line of lines.push(bytes)) this.#receive(line);
    }
    await this.#open.allAnswered(this.#clock, LAST_ANSWERS_MS);
    await this.close();
  }

  #next(): Promise<Uint8Array | null> {
    return this.#closed ? Promise.resolve(null) : this.#terminal.readBytes();
  }

  #receive(line: Line): void {
    if (this.#closed) return;
    if ("dropped" in line) {
      const why = line.dropped === "too long" ? "longer than 10 MiB" : line.dropped;
      return this.#refuse(PARSE_ERROR, `The line is ${why}`);
    }
    if (line.text.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line.text);
    } catch {
      return this.#refuse(PARSE_ERROR, "The line is not JSON");
    }
    if (Array.isArray(value)) return this.#refuse(INVALID_REQUEST, "Batches are not part of the protocol");
    if (isAnswer(value)) return this.#deliver(value);
    const twice = findDuplicateName(line.text);
    if (twice !== undefined) {
      return this.#refuse(INVALID_REQUEST, `The name "${shorten(twice)}" stands twice in one object`, value);
    }
    this.#deliver(value);
  }

  #deliver(value: unknown): void {
    const message = readMessage(value);
    if (message === undefined) {
      if (!isAnswer(value)) this.#refuse(INVALID_REQUEST, "This is not a message of JSON-RPC 2.0", value);
      return;
    }
    if ("method" in message && "id" in message && !this.#open.begin(message.id)) {
      return this.#refuse(
        INVALID_REQUEST,
        `A request with the id ${JSON.stringify(message.id)} still runs`,
        message,
      );
    }
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#open.cancelled(message.params?.requestId);
    }
    this.onmessage?.(message);
  }

  /** Without an id that can be told it is left out: both revisions of MCP allow that, and neither allows null. */
  #refuse(code: number, message: string, refused?: unknown): void {
    const id = idOf(refused);
    this.#write({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code, message } });
  }

  #write(message: unknown): void {
    if (this.#closed) return;
    const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    this.#writing = this.#writing.then(() => this.#terminal.stdout.write(bytes));
    this.#writing.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    this.close();
  }
}

function readMessage(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}

/** An answer of the client, right or wrong: answering one back would only confuse it. */
function isAnswer(value: unknown): boolean {
  return isPlainObject(value) && !("method" in value) && ("result" in value || "error" in value);
}

function idOf(value: unknown): RequestId | undefined {
  if (!isPlainObject(value)) return undefined;
  const { id } = value;
  if (typeof id === "string") return id;
  return typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
