/** What goes over the wire to QEMU's guest agent: one JSON object a line, each way. */

import { isPlainObject, type JsonObject, type JsonValue, parseJson } from "../../../base/json.ts";

/** One request to the agent. */
export interface AgentCommand {
  name: string;
  arguments?: JsonObject;
}

/** The agent's answer: a value, or its refusal with the class and words that it chose. */
export type AgentAnswer =
  | { ok: true; value: JsonValue }
  | { ok: false; errorClass: string; text: string };

/** One answer for each of some requests. */
export type AnswersTo<T extends readonly AgentCommand[]> = { -readonly [K in keyof T]: AgentAnswer };

/** The agent let the time for an answer pass. What it still sends belongs to nobody. */
export class AgentSilence extends Error {
  override readonly name = "AgentSilence";
}

/** The connection to the agent ended, or what came over it made no sense any more. */
export class AgentLost extends Error {
  override readonly name = "AgentLost";
}

/**
 * The byte that is never part of UTF-8. Sent before a request it makes the agent drop what it has half read;
 * the agent puts it before its answer to `guest-sync-delimited`.
 */
export const SENTINEL = 0xff;

/** The longest answer that is taken: a read of 1 MiB in base64 needs a third of it. */
export const LONGEST_LINE_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes requests as lines. */
export function encodeCommands(commands: readonly AgentCommand[]): Uint8Array {
  const lines = commands.map(({ name, arguments: values }) =>
    JSON.stringify({ execute: name, ...(values === undefined ? {} : { arguments: values }) }) + "\n"
  );
  return encoder.encode(lines.join(""));
}

/** Writes the request that finds the beginning of a conversation again. */
export function encodeSync(id: number): Uint8Array {
  const line = encodeCommands([{ name: "guest-sync-delimited", arguments: { id } }]);
  const bytes = new Uint8Array(line.length + 1);
  bytes[0] = SENTINEL;
  bytes.set(line, 1);
  return bytes;
}

/** Reads one line; `undefined` for anything that is not an answer, which is then dropped. */
export function decodeAnswer(line: Uint8Array): AgentAnswer | undefined {
  const text = decoder.decode(line.subarray(line.lastIndexOf(SENTINEL) + 1));
  let message: JsonValue;
  try {
    message = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(message)) return undefined;
  if (isPlainObject(message.error)) {
    const { class: errorClass, desc } = message.error;
    return {
      ok: false,
      errorClass: typeof errorClass === "string" ? errorClass : "GenericError",
      text: typeof desc === "string" ? desc : "no reason given",
    };
  }
  return message.return === undefined ? undefined : { ok: true, value: message.return };
}

/** A number in an answer; throws {@link AgentLost} when it is not there. */
export function numberIn(value: JsonValue, field: string): number {
  const found = isPlainObject(value) ? value[field] : undefined;
  if (typeof found === "number") return found;
  throw new AgentLost(`the agent's answer has no number "${field}"`);
}

/** A text in an answer; empty when it is not there, as the agent leaves out empty data. */
export function textIn(value: JsonValue, field: string): string {
  const found = isPlainObject(value) ? value[field] : undefined;
  return typeof found === "string" ? found : "";
}

/** Bytes that an answer carries in base64; empty when it carries none. */
export function bytesIn(value: JsonValue, field: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(textIn(value, field));
  } catch (error) {
    throw new AgentLost(`the agent's answer has no base64 in "${field}"`, { cause: error });
  }
}

/** Cuts a stream of bytes into lines, and holds no more than one line of {@link LONGEST_LINE_BYTES}. */
export class LineBuffer {
  #chunks: Uint8Array[] = [];
  #held = 0;
  readonly #lines: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    let rest = bytes;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#keep(rest.subarray(0, end));
      this.#lines.push(this.#join());
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
  }

  /** The oldest whole line that has not been taken yet. */
  shift(): Uint8Array | undefined {
    return this.#lines.shift();
  }

  #keep(bytes: Uint8Array): void {
    this.#held += bytes.length;
    if (this.#held > LONGEST_LINE_BYTES) {
      throw new AgentLost(`the agent sent a line of more than ${LONGEST_LINE_BYTES} bytes`);
    }
    if (bytes.length > 0) this.#chunks.push(bytes);
  }

  #join(): Uint8Array {
    const [first] = this.#chunks;
    let line = first ?? new Uint8Array(0);
    if (this.#chunks.length > 1) {
      line = new Uint8Array(this.#held);
      let at = 0;
      for (const chunk of this.#chunks) {
        line.set(chunk, at);
        at += chunk.length;
      }
    }
    this.#chunks = [];
    this.#held = 0;
    return line;
  }
}
