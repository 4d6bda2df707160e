/** The product's MCP server inside the test's own process: streams in memory, guests in memory, time that jumps. */

import assert from "node:assert/strict";
import { type Config, DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Terminal } from "../../src/host/terminal.ts";
import { type Connection, openConnection } from "../../src/mcp/connection.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { readWire, type WireMessage } from "./mcp_wire.ts";
import { MemoryDriver } from "./memory_driver.ts";
import { VirtualClock } from "./virtual_clock.ts";

/** The two revisions: one with a handshake, one whose every request says what it needs to. */
export type Era = "2025-11-25" | "2026-07-28";
export const ERAS: readonly Era[] = ["2025-11-25", "2026-07-28"];

export interface InProcessOptions {
  era?: Era;
  config?: Config;
  readOnly?: boolean;
  toolsets?: readonly string[];
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

/** What takes longer hangs. */
const ANSWER_LIMIT_MS = 300_000;

export class InProcessServer implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly driver: MemoryDriver = new MemoryDriver({ now: () => this.clock.now() });
  /** Everything that was sent, and when by the server's own clock. */
  readonly received: { at: number; message: WireMessage }[] = [];
  readonly closing = new AbortController();
  readonly #connection: Connection;
  readonly #era: Era;
  readonly #lines: (Uint8Array | null)[] = [];
  #wanted: () => void = () => {};
  #arrived: () => void = () => {};
  #nextId = 0;

  private constructor(folder: string, options: InProcessOptions) {
    const { era = "2025-11-25", config = DEFAULT_CONFIG, readOnly = false, toolsets = [] } = options;
    this.#era = era;
    this.#connection = openConnection({
      host: { ...openDenoHost(), clock: this.clock, terminal: this.#terminal() },
      config,
      state: new StateFolder(`${folder}/state`),
      version: "0.0.0-test",
      selection: { toolsets, readOnly },
      closing: this.closing,
      openDriver: () => Promise.resolve(this.driver),
    });
  }

  /** Starts a server in a folder; with 2025-11-25 the handshake is done. */
  static async start(folder: string, options: InProcessOptions = {}): Promise<InProcessServer> {
    const server = new InProcessServer(folder, options);
    if (server.#era === "2025-11-25") {
      const clientInfo = { name: "test", version: "1" };
      await server.request("initialize", { protocolVersion: server.#era, capabilities: {}, clientInfo });
      server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    }
    return server;
  }

  send(message: unknown): void {
    this.#feed(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  /** Sends a request in the form of the era; gives its id at once. Ids begin with 0. */
  begin(method: string, params: Record<string, unknown> = {}, meta: Record<string, unknown> = {}): number {
    const id = this.#nextId++;
    const envelope = this.#era === "2026-07-28" ? ENVELOPE : {};
    this.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...envelope, ...meta } } });
    return id;
  }

  async request(
    method: string,
    params?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<WireMessage> {
    return await this.answer(this.begin(method, params, meta));
  }

  /** Calls a tool and gives the answer. */
  call(
    name: string,
    args: Record<string, unknown> = {},
    meta: Record<string, unknown> = {},
  ): Promise<WireMessage> {
    return this.request("tools/call", { name, arguments: args }, meta);
  }

  cancel(requestId: unknown): void {
    const _meta = this.#era === "2026-07-28" ? { _meta: ENVELOPE } : {};
    this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, ..._meta } });
  }

  async answer(id: number): Promise<WireMessage> {
    await this.until(() => this.find(id) !== undefined, `the answer to ${id}`);
    const answer = this.find(id);
    assert.ok(answer !== undefined);
    return answer;
  }

  /** The answer to a request if it has come. */
  find(id: number): WireMessage | undefined {
    return this.received.find(({ message }) => !("method" in message) && message.id === id)?.message;
  }

  /** Waits until something has come true; looked at with every message and a few times in between. */
  async until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
    while (!await isTrue()) {
      assert.ok(!limit.aborted, `${what} did not come: ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 20);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#feed(null);
    assert.ok(await this.#connection.close());
  }

  #feed(bytes: Uint8Array | null): void {
    this.#lines.push(bytes);
    this.#wanted();
  }

  #terminal(): Terminal {
    return {
      stdout: { isTerminal: false, write: (bytes) => this.#take(bytes) },
      stderr: {
        isTerminal: false,
        write: (bytes) => Promise.reject(new Error(new TextDecoder().decode(bytes))),
      },
      stdinIsTerminal: false,
      columns: () => undefined,
      readBytes: async () => {
        while (this.#lines.length === 0) await new Promise<void>((resolve) => this.#wanted = resolve);
        return this.#lines.shift() ?? null;
      },
      readLine: () => Promise.resolve(undefined),
      reserveStdout: () => {},
      takeOver: () => {
        throw new Error("a server takes no terminal over");
      },
      onInterrupt: () => () => {},
    };
  }

  #take(bytes: Uint8Array): Promise<void> {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    assert.ok(text.endsWith("\n"));
    this.received.push({ at: this.clock.passed, message: readWire(text.slice(0, -1)) });
    this.#arrived();
    return Promise.resolve();
  }
}
