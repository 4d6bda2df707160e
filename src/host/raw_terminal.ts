/** A person's terminal in the hands of a program elsewhere: nothing that is typed means anything here. */

/** How large a terminal is. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The terminal, taken over. Disposing gives it back as it was. */
export interface RawTerminal extends Disposable {
  /** `undefined` for a terminal that does not tell. */
  size(): TerminalSize | undefined;
  /** What is typed, as it is typed; `null` when the terminal has gone. */
  read(): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): Promise<void>;
  /** Calls back when its size changes, until it is given back; where the system tells. */
  onResize(listener: () => void): void;
}

/** Takes this process's terminal over. */
export function takeTerminal(): RawTerminal {
  const listeners: (() => void)[] = [];
  Deno.stdin.setRaw(true);
  return {
    size() {
      try {
        return Deno.consoleSize();
      } catch {
        return undefined;
      }
    },
    async read() {
      const buffer = new Uint8Array(4096);
      const count = await Deno.stdin.read(buffer);
      return count === null ? null : buffer.subarray(0, count);
    },
    async write(bytes) {
      let written = 0;
      while (written < bytes.length) written += await Deno.stdout.write(bytes.subarray(written));
    },
    onResize(listener) {
      if (Deno.build.os === "windows") return;
      listeners.push(listener);
      Deno.addSignalListener("SIGWINCH", listener);
    },
    [Symbol.dispose]() {
      for (const listener of listeners) Deno.removeSignalListener("SIGWINCH", listener);
      Deno.stdin.setRaw(false);
    },
  };
}
