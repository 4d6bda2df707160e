/** A guest agent on a real unix socket that behaves as it is told. */

import { isPlainObject, type JsonObject, type JsonValue, parseJson } from "../../src/base/json.ts";

/** What the fake does with one request: a value, a refusal, or `undefined` for silence. */
export type FakeAnswer = { return: JsonValue } | { error: { class: string; desc: string } } | undefined;

export interface FakeBehaviour {
  /** Answers a request other than a sync; may wait. */
  answer?: (name: string, values: JsonObject, fake: FakeAgent) => FakeAnswer | Promise<FakeAnswer>;
  /** Whether syncs are answered; a promise delays the answer. */
  sync?: () => boolean | Promise<boolean>;
  /** Raw bytes sent to every new client first. */
  greeting?: Uint8Array;
  /** Sends every answer byte by byte. */
  splits?: boolean;
}

const encoder = new TextEncoder();

export class FakeAgent {
  readonly requests: string[] = [];
  clients = 0;
  readonly #listener: Deno.UnixListener;
  readonly #behaviour: FakeBehaviour;
  readonly #connections = new Set<Deno.UnixConn>();
  readonly #serving: Promise<void>;

  constructor(path: string, behaviour: FakeBehaviour = {}) {
    this.#behaviour = behaviour;
    this.#listener = Deno.listen({ transport: "unix", path });
    this.#serving = this.#accept();
  }

  /** Ends every connection, as QEMU's death does. */
  hangUp(): void {
    for (const connection of this.#connections) {
      this.#connections.delete(connection);
      connection.close();
    }
  }

  /** Sends raw bytes to every client. */
  async say(bytes: Uint8Array | string): Promise<void> {
    for (const connection of this.#connections) {
      await writeAll(connection, typeof bytes === "string" ? encoder.encode(bytes) : bytes);
    }
  }

  async close(): Promise<void> {
    this.hangUp();
    this.#listener.close();
    await this.#serving;
  }

  async #accept(): Promise<void> {
    const served: Promise<void>[] = [];
    for await (const connection of this.#listener) {
      this.clients++;
      this.#connections.add(connection);
      served.push(this.#serve(connection));
    }
    await Promise.all(served);
  }

  async #serve(connection: Deno.UnixConn): Promise<void> {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(64 * 1024);
    let text = "";
    try {
      if (this.#behaviour.greeting !== undefined) await writeAll(connection, this.#behaviour.greeting);
      for (;;) {
        const count = await connection.read(buffer);
        if (count === null) break;
        const lines = (text + decoder.decode(buffer.subarray(0, count), { stream: true })).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) await this.#take(connection, line);
      }
    } catch {
      // The other side, or a test, has hung up.
    }
    if (this.#connections.delete(connection)) connection.close();
  }

  async #take(connection: Deno.UnixConn, line: string): Promise<void> {
    const strays = line.lastIndexOf("\ufffd") + 1;
    const request = parseJson(line.slice(strays));
    if (!isPlainObject(request) || typeof request.execute !== "string") throw new Error(`odd line: ${line}`);
    const values = asJson(request.arguments);
    this.requests.push(request.execute);
    // The real agent reports the stray byte as a request that makes no sense.
    if (strays > 0) {
      await this.#send(connection, { error: { class: "GenericError", desc: "JSON parse error" } });
    }
    if (request.execute === "guest-sync-delimited") {
      if (await (this.#behaviour.sync?.() ?? true)) {
        await this.#send(connection, { return: values.id ?? null }, true);
      }
      return;
    }
    const answer = await (this.#behaviour.answer ?? (() => ({ return: {} })))(request.execute, values, this);
    if (answer !== undefined) await this.#send(connection, answer);
  }

  async #send(connection: Deno.UnixConn, message: JsonObject, delimited = false): Promise<void> {
    const body = encoder.encode(JSON.stringify(message) + "\n");
    const bytes = new Uint8Array([...(delimited ? [0xff] : []), ...body]);
    const step = this.#behaviour.splits ? 1 : bytes.length;
    for (let at = 0; at < bytes.length; at += step) await writeAll(connection, bytes.subarray(at, at + step));
  }
}

function asJson(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value ?? {}));
  return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : {};
}

async function writeAll(connection: Deno.UnixConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
