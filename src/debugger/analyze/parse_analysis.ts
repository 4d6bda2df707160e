/** Reads what `!analyze -v` prints, in all the forms that it has had. */

/** Fields by name, and the pairs of `KEY_VALUES_STRING`. The first that says something counts. */
export interface AnalysisFields {
  /** What stands behind a field's name, all its lines. */
  readonly textOf: (field: string) => string | undefined;
  /** A value of the pairs. */
  readonly valueOf: (key: string) => string | undefined;
  /** Name and code of the stop, from the line below the box. */
  readonly bugcheck: { readonly name: string; readonly code: string } | null;
  readonly arguments: readonly string[];
}

const FIELD = /^([A-Z][A-Z0-9_]{2,}):(?:[ \t]+(.*))?$/;
const STOP = /^([A-Z][A-Z0-9_]{3,}) \(([0-9a-f]{1,8})\)$/;
const ARGUMENT = /^Arg([1-4]): ([0-9a-f`]{8,17})\b/;
const KEY = /^\s+Key\s*: (.*)$/;
const VALUE = /^\s+Value: ?(.*)$/;

/** Reads a text that may be cut anywhere, hold other commands' output, or say nothing. */
export function parseAnalysis(text: string): AnalysisFields {
  const fields = new Map<string, string>();
  const values = new Map<string, string>();
  const stops: { name: string; code: string }[] = [];
  const args: string[] = [];
  let open: string | null = null;
  let key: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const [, argument, value] = ARGUMENT.exec(line) ?? [];
    const [, stopName, stopCode] = STOP.exec(line) ?? [];
    const [, field, rest = ""] = FIELD.exec(line) ?? [];
    const named = KEY.exec(line)?.[1];
    const given = VALUE.exec(line)?.[1];
    if (argument !== undefined && value !== undefined) {
      args[Number(argument) - 1] ??= value.replace("`", "");
      open = null;
    } else if (named !== undefined) key = named.trim();
    else if (given !== undefined && key !== null) {
      if (!values.has(key)) values.set(key, given.trim());
      key = null;
    } else if (field !== undefined) {
      open = fields.get(field) ? null : field;
      if (open !== null) fields.set(open, rest.trim());
    } else if (stopName !== undefined && stopCode !== undefined) {
      stops.push({ name: stopName, code: stopCode });
    } else if (line.trim() === "") open = null;
    else if (open !== null) {
      const before = fields.get(open) ?? "";
      fields.set(open, before === "" ? line.trim() : `${before}\n${line.trim()}`);
    }
  }
  return {
    textOf: (field) => fields.get(field),
    valueOf: (key) => values.get(key),
    bugcheck: stops[0] ?? null,
    arguments: args.length === 4 ? args : [],
  };
}
