/** One line of a console or log: what surrounds the kernel's own text is taken off. */

/** A line as the rules read it. */
export interface ConsoleLine {
  /** Seconds since boot; null without a time stamp. */
  readonly time: number | null;
  /** Who printed it, when the kernel notes that: `T110` a task, `C0` a processor. */
  readonly caller: string | null;
  readonly text: string;
}

const LONGEST_LINE = 4096;

// deno-lint-ignore no-control-regex
const ESCAPES = /\x1B\[[0-9;?]*[A-Za-z]|\x1B[()][A-Z0-9]|[\0-\x08\x0B-\x1F\x7F]/g;

/** What `dmesg`, syslog and the kernel put before the text. Only a syslog date lets `kernel:` stand before it. */
const PREFIX = new RegExp(
  [
    /^(?:(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\d[T ]\S+) \S+ kernel: )?/,
    /(?:<\d{1,3}>)?\s{0,2}/,
    /(?:\[\s*(?<time>\d{1,10}\.\d{6})\]\s?|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d:]{10,14} \d{4}\]\s?)?/,
    /(?:\[\s*(?<caller>[TC]\d+)\]\s?)?/,
  ].map(({ source }) => source).join(""),
);

/** Kernel text that begins in the middle of a line which a user program had not ended. */
const GLUED = /(?<=[^>])(?=(?:<\d{1,3}>)?\[\s{0,4}\d{1,6}\.\d{6}\]\s)/;

/** The pieces of a raw line: more than one where kernel text is glued to other text. */
export function splitGlued(raw: string): readonly string[] {
  const cut = raw.length > LONGEST_LINE ? raw.slice(0, LONGEST_LINE) : raw;
  return cut.indexOf("[", 1) > 0 ? cut.split(GLUED) : [cut];
}

/** Takes escapes, control characters, prefixes and trailing space off. */
export function cleanLine(raw: string): ConsoleLine {
  const plain = raw.replace(ESCAPES, "");
  const match = PREFIX.exec(plain);
  const time = match?.groups?.["time"];
  return {
    time: time === undefined ? null : Number(time),
    caller: match?.groups?.["caller"] ?? null,
    text: plain.slice(match?.[0].length ?? 0).trimEnd(),
  };
}
