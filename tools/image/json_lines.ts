/** One connection that speaks JSON objects a line each, as QMP and the guest agent do. */
export class JsonLines {
  readonly #connection: Deno.UnixConn;
  readonly #decoder = new TextDecoder();
  #text = "";

  private constructor(connection: Deno.UnixConn) {
    this.#connection = connection;
  }

  /** Connects to a unix socket that may still have to appear; throws after `limitMs` milliseconds. */
  static async open(path: string, limitMs: number): Promise<JsonLines> {
    const end = performance.now() + limitMs;
    while (true) {
      try {
        return new JsonLines(await Deno.connect({ transport: "unix", path }));
      } catch (error) {
        if (performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  /** Sends one object; `prefix` goes out before it as it is. */
  async send(value: Record<string, unknown>, prefix = new Uint8Array()): Promise<void> {
    const text = new TextEncoder().encode(JSON.stringify(value) + "\n");
    const bytes = new Uint8Array(prefix.length + text.length);
    bytes.set(prefix);
    bytes.set(text, prefix.length);
    for (let sent = 0; sent < bytes.length;) sent += await this.#connection.write(bytes.subarray(sent));
  }

  /** Reads the next object; undefined at the end of the stream. */
  async receive(): Promise<Record<string, unknown> | undefined> {
    while (true) {
      const end = this.#text.indexOf("\n");
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        const value: unknown = JSON.parse(line.slice(line.lastIndexOf("\ufffd") + 1));
        if (isRecord(value)) return value;
        continue;
      }
      const chunk = new Uint8Array(65536);
      const length = await this.#connection.read(chunk).catch(() => null);
      if (length === null) return undefined;
      this.#text += this.#decoder.decode(chunk.subarray(0, length), { stream: true });
    }
  }

  /** Closes the connection; a second call does nothing. */
  close(): void {
    try {
      this.#connection.close();
    } catch {
      // Closed already.
    }
  }
}

/** Tells whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
