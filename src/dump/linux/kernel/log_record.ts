/** Records of the kernel's log, however the kernel kept them. */

/** One message. */
export interface LogRecord {
  /** Nanoseconds since boot. */
  readonly time: bigint;
  /** 0 (emergency) to 7 (debug). */
  readonly level: number;
  /** Text as it was logged; it may have several lines. */
  readonly text: string;
}

/** What was read of the log. */
export interface KernelLog {
  readonly records: readonly LogRecord[];
  /** Records whose text was overwritten, torn or not in the dump. */
  readonly lost: number;
}

const NANOSECONDS = 1_000_000_000n;
/** No line is longer than the kernel's own limit. */
const LONGEST_TEXT = 4096;

/** Text of a record: what is no UTF-8 is replaced. */
export function recordText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, LONGEST_TEXT));
}

/** The record's lines as `dmesg` prints them: each with the time, `[    3.374613] text`. */
export function dmesgLines({ time, text }: LogRecord): string[] {
  const seconds = (time / NANOSECONDS).toString().padStart(5);
  const micros = (time % NANOSECONDS / 1000n).toString().padStart(6, "0");
  return text.split("\n").map((line) => `[${seconds}.${micros}] ${line}`);
}
