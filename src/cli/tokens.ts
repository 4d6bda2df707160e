/** The command line in pieces: words and flags before `--`, and what stands after it, untouched. */

/** A plain word, or a flag with the value that was tied to it by `=`. */
export type Token =
  | { kind: "word"; text: string }
  | { kind: "flag"; name: string; value: string | undefined; text: string };

/** A command line whose command is not known yet. */
export interface CommandLine {
  tokens: Token[];
  /** Everything after the first `--`, byte for byte; `undefined` when there is no `--`. */
  rest: string[] | undefined;
}

/** Splits an argument vector. `-` alone is a word; `-h` is `--help`, and no other flag has one letter. */
export function tokenize(argv: readonly string[]): CommandLine {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  return { tokens: own.map(tokenOf), rest: end < 0 ? undefined : argv.slice(end + 1) };
}

function tokenOf(text: string): Token {
  if (!text.startsWith("-") || text === "-") return { kind: "word", text };
  if (text === "-h") return { kind: "flag", name: "help", value: undefined, text };
  const equals = text.indexOf("=");
  const written = equals < 0 ? text : text.slice(0, equals);
  return {
    kind: "flag",
    name: written.startsWith("--") ? written.slice(2) : written,
    value: equals < 0 ? undefined : text.slice(equals + 1),
    text: written,
  };
}
