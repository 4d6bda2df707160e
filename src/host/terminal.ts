/** The standard streams of this process, and the signals with which a person or a supervisor ends it. */

import { fileFailure } from "./failures.ts";
import { type RawTerminal, takeTerminal } from "./raw_terminal.ts";

/** The reader of a stream has gone away, as `| head -1` does after its line. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

/** One of the two output streams. */
export interface OutputStream {
  readonly isTerminal: boolean;
  /** Writes all bytes, waiting for a slow reader. Rejects with {@link ReaderGone} when nobody reads any more. */
  write(bytes: Uint8Array): Promise<void>;
}

export interface Terminal {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdinIsTerminal: boolean;
  /** Columns of the terminal that stderr or stdout is; `undefined` when there is none. */
  columns(): number | undefined;
  /** The next bytes of stdin; `null` at its end. */
  readBytes(): Promise<Uint8Array | null>;
  /** One line from stdin without its end; `undefined` at the end of the input. */
  readLine(): Promise<string | undefined>;
  /**
   * Keeps stdout for a protocol: what any part of the program or its libraries prints goes to stderr from now on,
   * and a failure that nobody handles is told there instead of ending the process.
   */
  reserveStdout(): void;
  /** Takes the terminal over for a program at its other side: keys come as they are typed, Ctrl-C included. */
  takeOver(): RawTerminal;
  /** Calls back for Ctrl-C, and for the signals that ask a program to end. Answers with the way to stop that. */
  onInterrupt(listener: (signal: string) => void): () => void;
}

export const denoTerminal: Terminal = {
  stdout: outputOf(Deno.stdout),
  stderr: outputOf(Deno.stderr),
  get stdinIsTerminal() {
    return Deno.stdin.isTerminal();
  },
  columns() {
    try {
      return Deno.consoleSize().columns;
    } catch {
      return undefined;
    }
  },
  readBytes,
  readLine,
  reserveStdout,
  takeOver: takeTerminal,
  onInterrupt(listener) {
    const signals: Deno.Signal[] = Deno.build.os === "windows"
      ? ["SIGINT", "SIGBREAK", "SIGHUP"] // the last one is the window being closed
      : ["SIGINT", "SIGTERM", "SIGHUP"];
    const handlers = signals.map((signal) => ({ signal, handle: () => listener(signal) }));
    for (const { signal, handle } of handlers) Deno.addSignalListener(signal, handle);
    return () => {
      for (const { signal, handle } of handlers) Deno.removeSignalListener(signal, handle);
    };
  },
};

function outputOf(stream: typeof Deno.stdout): OutputStream {
  return {
    get isTerminal() {
      return stream.isTerminal();
    },
    async write(bytes) {
      try {
        let written = 0;
        while (written < bytes.length) written += await stream.write(bytes.subarray(written));
      } catch (error) {
        // A pipe on Windows ends with "The pipe is being closed" (os error 232), which has no class of its own.
        const text = error instanceof Error ? error.message : "";
        if (error instanceof Deno.errors.BrokenPipe || text.includes("os error 232")) {
          throw new ReaderGone("The reader of the output has gone", { cause: error });
        }
        throw fileFailure(error, "write", stream === Deno.stdout ? "standard output" : "standard error");
      }
    },
  };
}

function reserveStdout(): void {
  const { error } = console;
  for (
    const method of [
      "log",
      "info",
      "debug",
      "table",
      "dir",
      "dirxml",
      "count",
      "timeLog",
      "timeEnd",
      "group",
    ] as const
  ) {
    console[method] = (...words: unknown[]) => error(...words);
  }
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    error("unhandled failure:", event.reason);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    error("unhandled failure:", event.error);
  });
}

async function readBytes(): Promise<Uint8Array | null> {
  const buffer = new Uint8Array(64 * 1024);
  const count = await Deno.stdin.read(buffer);
  return count === null ? null : buffer.subarray(0, count);
}

/** Reads byte by byte, so that nothing behind the line is taken from the next reader of stdin. */
async function readLine(): Promise<string | undefined> {
  const line: number[] = [];
  const byte = new Uint8Array(1);
  for (;;) {
    const count = await Deno.stdin.read(byte);
    const [value = 0] = byte;
    if (count === null) return line.length === 0 ? undefined : decodeLine(line);
    if (value === 0x0a) return decodeLine(line);
    line.push(value);
  }
}

function decodeLine(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\r$/, "");
}
