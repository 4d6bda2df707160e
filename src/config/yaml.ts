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
import { once } from "../base/once.ts";

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
 * Parses one YAML 1.2 document. Refuses duplicate keys, anchors, aliases, merge keys, tags, keys that are not plain
 * texts and the key `__proto__`; throws {@link YamlError}.
 */
export function parseYaml(text: string): YamlDocument {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    if (events.filter(({ type }) => type === EVENT_ID.DOCUMENT).length > 1) {
      throw new YamlError("more than one document in the file", undefined);
    }
    const places = placesOf(events, text);
    const [data] = constructFromEvents(events, { source: text, maxAliases: 0, maxTotalMergeKeys: 0 });
    const lines = once(() => lineStarts(text));
    return {
      data,
      placeOf(path) {
        for (let length = path.length; length > 0; length--) {
          const offset = places.get(pathText(path.slice(0, length)));
          if (offset !== undefined) return placeAmong(lines(), offset);
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
  return placeAmong(lineStarts(text.slice(0, offset)), offset);
}

/** The offset of every line. A long file may have very many mistakes, each of which asks for its place. */
function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ 0: { length }, index }) => index + length)];
}

function placeAmong(starts: readonly number[], offset: number): Place {
  let line = 0;
  let end = starts.length;
  while (end - line > 1) {
    const middle = (line + end) >> 1;
    if ((starts[middle] ?? 0) <= offset) line = middle;
    else end = middle;
  }
  return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
}

/** A collection that is open while walking over the events. */
interface Frame {
  path: KeyPath;
  kind: "document" | "list" | "mapping";
  /** Items seen; in a mapping the key that waits for its value. */
  count: number;
  key: string | undefined;
  /** The keys of a mapping so far. */
  keys: Set<string>;
}

function placesOf(events: readonly Event[], text: string): Map<string, number> {
  const places = new Map<string, number>();
  const open: Frame[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      open.pop();
    } else if (event.type === EVENT_ID.DOCUMENT) {
      open.push(frame([], "document"));
    } else {
      refuseProperties(event, text);
      const path = takeNode(event, open.at(-1), places, text);
      if (path === undefined) continue;
      if (event.type === EVENT_ID.MAPPING) open.push(frame(path, "mapping"));
      if (event.type === EVENT_ID.SEQUENCE) open.push(frame(path, "list"));
    }
  }
  return places;
}

function frame(path: KeyPath, kind: Frame["kind"]): Frame {
  return { path, kind, count: 0, key: undefined, keys: new Set() };
}

/** Anchors and tags change what a reader makes of a text, so that it says something else than it seems to. */
function refuseProperties(event: Event, text: string): void {
  if (event.type === EVENT_ID.ALIAS) throw new YamlError("an alias", placeAt(text, event.anchorStart - 1));
  if (!("tagStart" in event)) return;
  if (event.anchorStart >= 0) throw new YamlError("an anchor", placeAt(text, event.anchorStart - 1));
  if (event.tagStart >= 0) throw new YamlError("a tag", placeAt(text, event.tagStart));
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
    const start = startOf(event);
    if (start !== undefined) places.set(pathText(path), start);
    return path;
  }
  if (parent.key !== undefined) {
    const path = [...parent.path, parent.key];
    parent.key = undefined;
    return path;
  }
  const start = startOf(event);
  const refused = (why: string): YamlError =>
    new YamlError(why, start === undefined ? undefined : placeAt(text, start));
  if (event.type !== EVENT_ID.SCALAR) throw refused("a key must be a plain text");
  parent.key = getScalarValue(text, event);
  if (parent.key === "__proto__") throw refused('the key "__proto__" is refused');
  if (parent.keys.has(parent.key)) throw refused(`the key "${parent.key}" stands here twice`);
  parent.keys.add(parent.key);
  if (start !== undefined) places.set(pathText([...parent.path, parent.key]), start);
  return undefined;
}

/** Where a node begins; `undefined` for one that is left out, which has no place of its own. */
function startOf(event: Event): number | undefined {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return event.valueStart < 0 ? undefined : event.valueStart - (isQuoted(event.style) ? 1 : 0);
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    default:
      return undefined;
  }
}

/** The parser's own offset of a quoted text is behind the quote. */
function isQuoted(style: number): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function pathText(path: KeyPath): string {
  return JSON.stringify(path);
}
