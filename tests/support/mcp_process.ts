/** An MCP server as a process whose every byte the test sees: raw lines in, checked messages out. */

import assert from "node:assert/strict";
import type { ServerCommand } from "./mcp_programs.ts";
import { readWire, type WireMessage } from "./mcp_wire.ts";

/** How a server ended, and how long after it was asked to. */
export interface ServerEnd {
  code: number;
  signal: string | null;
}

/** What takes longer hangs. */
export const HANG_MS = 300_000;
const encoder = new TextEncoder();

export class McpProcess implements AsyncDisposable {
  /** Everything that the server has sent so far. */
  readonly received: WireMessage[] = [];
  readonly pid: number;
  readonly ended: Promise<ServerEnd>;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  readonly #errors: Promise<string>;
  readonly #neverReading = new AbortController();
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  #arrived: () => void = () => {};
  #outputEnded = false;
  #inputOpen = true;

  constructor({ program, args, env }: ServerCommand) {
    this.#child = new Deno.Command(program, {
      args,
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.getReader();
    this.#reading = this.#read();
    this.#errors = new Response(this.#child.stderr).text();
    this.ended = this.#child.status.then(({ code, signal }) => ({ code, signal }));
  }

  /** Sends one message. */
  async send(message: unknown): Promise<void> {
    await this.sendText(`${JSON.stringify(message)}\n`);
  }

  /** Sends text as it is; the end of the line is the caller's. */
  async sendText(text: string | Uint8Array): Promise<void> {
    await this.#input.write(typeof text === "string" ? encoder.encode(text) : text);
  }

  /** Sends a request and gives its answer. */
  async request(id: string | number, method: string, params?: unknown): Promise<WireMessage> {
    await this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return await this.answer(id);
  }

  /** The answer to a request, also when it came earlier. */
  answer(id: string | number): Promise<WireMessage> {
    return this.find((message) => !("method" in message) && message.id === id, `the answer to ${id}`);
  }

  /** The first message that fits; fails when the server ends or says nothing for long. */
  async find(fits: (message: WireMessage) => boolean, what: string): Promise<WireMessage> {
    const limit = AbortSignal.timeout(HANG_MS);
    for (;;) {
      const found = this.received.find(fits);
      if (found !== undefined) return found;
      assert.ok(!this.#outputEnded, `the server ended before ${what} came: ${JSON.stringify(this.received)}`);
      assert.ok(!limit.aborted, `${what} did not come: ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, HANG_MS);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The handshake of 2025-11-25. */
  async initialize(): Promise<WireMessage> {
    const answer = await this.request("init", "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }

  /** Ends the server's stdin. */
  async closeInput(): Promise<void> {
    if (!this.#inputOpen) return;
    this.#inputOpen = false;
    await this.#input.close().catch(() => {});
  }

  /** Closes our end of the server's stdout. */
  async closeOutput(): Promise<void> {
    await this.#output.cancel();
  }

  /** Takes one more piece of what the server sends, and then nothing any more. */
  stopReading(): void {
    this.#neverReading.abort();
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** What the server wrote to stderr, once it has ended. */
  errors(): Promise<string> {
    return this.#errors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeInput();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), HANG_MS);
    await this.ended;
    clearTimeout(timer);
    if (this.#neverReading.signal.aborted) await this.#output.cancel();
    await this.#reading;
    await this.#errors;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for (let part = await this.#output.read(); !part.done; part = await this.#output.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.received.push(readWire(line));
      this.#arrived();
      if (this.#neverReading.signal.aborted) return;
    }
    this.#outputEnded = true;
    this.#arrived();
    assert.equal(rest, "", "the server's last line has no end");
  }
}
