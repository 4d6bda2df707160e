/** YAML text to plain data, with the place of every key and value. The only file that knows the YAML package. */

import {
  constructFromEvents,
  type Event,
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from "js-yaml";

/** A place in a text; both numbers count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A key path: field names, and positions in lists from 0. */
export type KeyPath = readonly PropertyKey[];

/** A parsed file. */
export interface YamlDocument {
  /** The data; `undefined` when the text holds no document, only comments or nothing. */
  data: unknown;
  /** Where a key path stands: its key where it has one, else its value, else the nearest parent. */
  placeOf(path: KeyPath): Place;
}

/** A text that is not acceptable YAML. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  readonly place: Place | undefined;

  constructor(message: string, place: Place | undefined) {
    super(message);
    this.place = place;
  }
}

/** More than any file of ours needs; they bound what a hostile file can cost. */
const MAX_DEPTH = 16;

/**
 * Parses one YAML 1.2 document. Refuses duplicate keys, aliases, merge keys, tags, keys that are not plain texts
 * and the key `__proto__`; throws {@link YamlError}.
 */
export function parseYaml(text: string): YamlDocument {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const places = placesOf(events, text);
    const documents = constructFromEvents(events, { source: text, maxAliases: 0, maxTotalMergeKeys: 0 });
    if (documents.length > 1) throw new YamlError("more than one document in the file", undefined);
    return {
      data: documents[0],
      placeOf(path) {
        for (let length = path.length; length > 0; length--) {
          const offset = places.get(pathText(path.slice(0, length)));
          if (offset !== undefined) return placeAt(text, offset);
        }
        return { line: 1, column: 1 };
      },
    };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark } = error;
    const place = mark === undefined ? undefined : { line: mark.line + 1, column: mark.column + 1 };
    throw new YamlError(error.reason, place);
  }
}

/** The line and column of an offset into a text. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

/** A collection that is open while walking over the events. */
interface Frame {
  path: KeyPath;
  kind: "document" | "list" | "mapping";
  /** Items seen; in a mapping the key that waits for its value. */
  count: number;
  key: string | undefined;
}

function placesOf(events: readonly Event[], text: string): Map<string, number> {
  const places = new Map<string, number>();
  const open: Frame[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      open.pop();
    } else if (event.type === EVENT_ID.DOCUMENT) {
      open.push({ path: [], kind: "document", count: 0, key: undefined });
    } else {
      const path = takeNode(event, open.at(-1), places, text);
      if (path === undefined) continue;
      if (event.type === EVENT_ID.MAPPING) open.push({ path, kind: "mapping", count: 0, key: undefined });
      if (event.type === EVENT_ID.SEQUENCE) open.push({ path, kind: "list", count: 0, key: undefined });
    }
  }
  return places;
}

/** Notes where a node stands and answers its path; `undefined` for a key, which opens nothing. */
function takeNode(
  event: Event,
  parent: Frame | undefined,
  places: Map<string, number>,
  text: string,
): KeyPath | undefined {
  if (parent === undefined || parent.kind === "document") return [];
  if (parent.kind === "list") {
    const path = [...parent.path, parent.count++];
    places.set(pathText(path), startOf(event));
    return path;
  }
  if (parent.key !== undefined) {
    const path = [...parent.path, parent.key];
    parent.key = undefined;
    return path;
  }
  const start = startOf(event);
  if (event.type !== EVENT_ID.SCALAR) throw new YamlError("a key must be a plain text", placeAt(text, start));
  parent.key = getScalarValue(text, event);
  if (parent.key === "__proto__") throw new YamlError('the key "__proto__" is refused', placeAt(text, start));
  const path = pathText([...parent.path, parent.key]);
  if (places.has(path)) {
    throw new YamlError(`the key "${parent.key}" stands here twice`, placeAt(text, start));
  }
  places.set(path, start);
  return undefined;
}

function startOf(event: Event): number {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return Math.max(event.valueStart - (isQuoted(event.style) ? 1 : 0), 0);
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    default:
      return 0;
  }
}

/** The parser's own offset of a quoted text is behind the quote. */
function isQuoted(style: number): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function pathText(path: KeyPath): string {
  return JSON.stringify(path);
}
