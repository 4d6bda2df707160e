/** A server over stdio, spoken to line by line. */

/** One running server. */
export class McpSession implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #nextId = 1;

  constructor(args: readonly string[]) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Sends a request and waits for its result; throws when the answer is an error. */
  async request(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = this.#nextId++;
    await this.#send({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const message: unknown = JSON.parse(await this.#readLine());
      if (typeof message !== "object" || message === null || Reflect.get(message, "id") !== id) continue;
      if ("error" in message) throw new Error(`${method}: ${JSON.stringify(message.error)}`);
      return Reflect.get(message, "result");
    }
  }

  /** The handshake of the revision 2025-11-25. */
  async initialize(): Promise<void> {
    await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "0" },
    });
    await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }

  async #send(message: Record<string, unknown>): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return line;
      }
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("the server ended without an answer");
      this.#rest += value;
    }
  }
}
