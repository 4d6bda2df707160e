/**
 * The lines of the sidecar. A request is its id, what it calls, and the arguments as JSON; an id alone stops that
 * request. A reply is a line that begins with a mark and the request's id, with JSON after it; everything else on
 * standard output was printed by somebody else and is no reply.
 */

import { type JsonObject, type JsonValue, parseJson } from "../../../base/json.ts";
import { isPlainObject } from "../../../base/json.ts";

/** What a frame says about the request with this id. */
export type Frame =
  | { id: string; kind: "begin" }
  | { id: string; kind: "progress"; activity: string; percent: number }
  | { id: string; kind: "result"; value: unknown }
  | { id: string; kind: "error"; phase: string; error: unknown }
  | { id: string; kind: "stopped"; reason: string }
  /** A line that bears the mark and the id, and is no frame for all that. */
  | { id: string; kind: "broken" };

const MARK = "#hvlab ";
const FRAME = /^#hvlab ([0-9a-f-]{36}) (.*)$/s;
/** Longer lines are nobody's reply: the longest one known is a list of some thousand VMs, below 4 MB. */
const LINE_LIMIT = 64 * 1024 * 1024;

/** Cuts a stream of bytes into frames. What is no frame goes to `onNoise`, line by line. */
export class FrameReader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #onNoise: (line: string) => void;
  #rest = "";

  constructor(onNoise: (line: string) => void = () => {}) {
    this.#onNoise = onNoise;
  }

  /** The frames that these bytes complete. */
  push(bytes: Uint8Array): Frame[] {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > LINE_LIMIT) this.#rest = "";
    return lines.flatMap((line) => this.#read(line));
  }

  #read(line: string): Frame[] {
    const [, id, text] = line.startsWith(MARK) ? FRAME.exec(line) ?? [] : [];
    if (id === undefined || text === undefined) {
      if (line.trim() !== "") this.#onNoise(line);
      return [];
    }
    return [readFrame(id, text)];
  }
}

function readFrame(id: string, text: string): Frame {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return { id, kind: "broken" };
  }
  if (!isPlainObject(body)) return { id, kind: "broken" };
  switch (body.kind) {
    case "begin":
      return { id, kind: "begin" };
    case "progress":
      return {
        id,
        kind: "progress",
        activity: String(body.activity ?? ""),
        percent: Number(body.percent ?? -1),
      };
    case "result":
      return { id, kind: "result", value: body.value };
    case "error":
      return { id, kind: "error", phase: String(body.phase ?? ""), error: body.error };
    case "stopped":
      return { id, kind: "stopped", reason: String(body.reason ?? "") };
    default:
      return { id, kind: "broken" };
  }
}

/** Arguments of an operation: texts, numbers, truth values, nothing, and lists of texts. */
export type Arguments = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/**
 * One request as a line. Texts get a mark before them, without which PowerShell makes dates of those that look like
 * one.
 */
export function writeRequest(id: string, call: string, args: Arguments): Uint8Array {
  const marked: JsonObject = {};
  for (const [name, value] of Object.entries(args)) marked[name] = mark(value);
  return new TextEncoder().encode(`${id} ${call} ${JSON.stringify(marked)}\n`);
}

/** The line that asks for the request with this id to be stopped. */
export function writeCancel(id: string): Uint8Array {
  return new TextEncoder().encode(`${id}\n`);
}

/** Any object as one line. */
export function writeLine(value: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value) + "\n");
}

function mark(value: Arguments[string]): JsonValue {
  if (typeof value === "string") return `=${value}`;
  if (Array.isArray(value)) return value.map((text: string) => `=${text}`);
  return typeof value === "number" || typeof value === "boolean" ? value : null;
}
