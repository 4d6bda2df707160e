/** Cutting a byte stream into lines, whatever the reads are cut into. */

/** The longest line that is taken, as in the SDK's own stdio transport: 10 MiB. */
export const LINE_LIMIT_BYTES: number = 10 * 1024 * 1024;

const NEWLINE = 0x0a;

/** One complete line, or why one was dropped. */
export type Line = { text: string } | { dropped: "too long" | "not UTF-8" };

/** Collects bytes into lines; memory stays under the limit however long a line is. */
export class LineSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  #dropping = false;
  #first = true;

  /** Takes the next bytes and gives the lines that they complete. A byte order mark before the first is dropped. */
  push(bytes: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#hold(bytes.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#hold(bytes.subarray(start));
    return lines;
  }

  #hold(part: Uint8Array): void {
    if (this.#held + part.length > LINE_LIMIT_BYTES) {
      this.#dropping = true;
      this.#parts = [];
      this.#held = 0;
    }
    if (this.#dropping || part.length === 0) return;
    this.#parts.push(part);
    this.#held += part.length;
  }

  #take(): Line {
    const dropped = this.#dropping;
    const whole = new Uint8Array(this.#held);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    this.#parts = [];
    this.#held = 0;
    this.#dropping = false;
    const ignoreBOM = !this.#first;
    this.#first = false;
    return dropped ? { dropped: "too long" } : decode(whole, ignoreBOM);
  }
}

/** A name or an argument with replaced bytes would be another one, so wrong bytes are refused. */
function decode(bytes: Uint8Array, ignoreBOM: boolean): Line {
  try {
    return { text: new TextDecoder("utf-8", { ignoreBOM, fatal: true }).decode(bytes) };
  } catch {
    return { dropped: "not UTF-8" };
  }
}
