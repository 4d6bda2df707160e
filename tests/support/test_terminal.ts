/** A terminal in memory: what was printed, and what a person types. */

import type { RawTerminal } from "../../src/host/raw_terminal.ts";
import { ReaderGone, type Terminal } from "../../src/host/terminal.ts";

export interface TestTerminalOptions {
  /** Which streams are terminals. */
  terminals?: readonly ("stdin" | "stdout" | "stderr")[];
  /** Lines that the person types. */
  typed?: readonly string[];
  /** What the person types at a terminal that was taken over, piece by piece. */
  keys?: readonly Uint8Array[];
  /** The reader of stdout goes away after this many bytes. */
  readerLeavesAfter?: number;
}

export class TestTerminal implements Terminal {
  readonly stdoutBytes: number[] = [];
  readonly stderrBytes: number[] = [];
  readonly #options: TestTerminalOptions;
  readonly #typed: string[];
  readonly #listeners = new Set<(signal: string) => void>();

  constructor(options: TestTerminalOptions = {}) {
    this.#options = options;
    this.#typed = [...options.typed ?? []];
  }

  readonly stdout = {
    isTerminal: false,
    write: (bytes: Uint8Array): Promise<void> => {
      const { readerLeavesAfter = Infinity } = this.#options;
      if (this.stdoutBytes.length + bytes.length > readerLeavesAfter) {
        return Promise.reject(new ReaderGone("The reader of the output has gone"));
      }
      this.stdoutBytes.push(...bytes);
      return Promise.resolve();
    },
  };

  readonly stderr = {
    isTerminal: false,
    write: (bytes: Uint8Array): Promise<void> => {
      this.stderrBytes.push(...bytes);
      return Promise.resolve();
    },
  };

  /** Makes the chosen streams terminals. */
  static with(options: TestTerminalOptions): TestTerminal {
    const terminal = new TestTerminal(options);
    terminal.stdout.isTerminal = options.terminals?.includes("stdout") ?? false;
    terminal.stderr.isTerminal = options.terminals?.includes("stderr") ?? false;
    return terminal;
  }

  get stdinIsTerminal(): boolean {
    return this.#options.terminals?.includes("stdin") ?? false;
  }

  get out(): string {
    return new TextDecoder().decode(Uint8Array.from(this.stdoutBytes));
  }

  get err(): string {
    return new TextDecoder().decode(Uint8Array.from(this.stderrBytes));
  }

  columns(): number {
    return 80;
  }

  readBytes(): Promise<Uint8Array | null> {
    return Promise.resolve(null);
  }

  readLine(): Promise<string | undefined> {
    return Promise.resolve(this.#typed.shift());
  }

  takeOver(): RawTerminal {
    const { keys = [] } = this.#options;
    const left = [...keys];
    return {
      size: () => ({ columns: 80, rows: 24 }),
      read: () => Promise.resolve(left.shift() ?? null),
      write: (bytes) => this.stdout.write(bytes),
      onResize: () => {},
      [Symbol.dispose]: () => {},
    };
  }

  reserveStdout(): void {}

  onInterrupt(listener: (signal: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Presses Ctrl-C. */
  interrupt(): void {
    for (const listener of this.#listeners) listener("SIGINT");
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }
}
