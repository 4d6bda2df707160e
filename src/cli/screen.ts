/** Everything that the command line prints: results to stdout, everything else to stderr. */

import type { HvError } from "../base/errors.ts";
import { visibleJson, visibleLines, visibleText } from "../base/visible_text.ts";
import { type OutputStream, ReaderGone, type Terminal } from "../host/terminal.ts";

const encoder = new TextEncoder();

/** How a command's output is wanted. */
export interface ScreenOptions {
  json: boolean;
  quiet: boolean;
}

export class Screen {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly quiet: boolean;

  constructor(terminal: Terminal, { json, quiet }: ScreenOptions) {
    this.terminal = terminal;
    this.json = json;
    this.quiet = quiet;
  }

  /** The command's answer: one JSON object under `--json`, else the text. Rejects with `ReaderGone`. */
  async answer(object: object, text: () => string): Promise<void> {
    if (this.json) return await this.#printJson(object);
    const shown = visibleLines(text());
    await write(this.terminal.stdout, shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`);
  }

  /** A sentence that a result needs beside it; under `--json` the result itself carries it. */
  async warn(text: string): Promise<void> {
    if (!this.json && !this.quiet) await this.#tell(`warning: ${visibleText(text)}\n`);
  }

  /**
   * A failure, in the one form of every door under `--json`. Never rejects: what stdout does not take goes to stderr,
   * and what nobody reads is lost.
   */
  async fail(error: HvError): Promise<void> {
    if (!this.json) return await this.#tell(failureText(error));
    try {
      await this.#printJson(error.toEnvelope());
    } catch (thrown) {
      if (!(thrown instanceof ReaderGone)) await this.#tell(failureText(error));
    }
  }

  /** Lines for a person at the terminal, such as a preview. */
  async show(text: string): Promise<void> {
    await this.#tell(visibleLines(text));
  }

  async #printJson(object: object): Promise<void> {
    const { stdout } = this.terminal;
    const text = JSON.stringify(object, undefined, stdout.isTerminal ? 2 : undefined);
    await write(stdout, `${visibleJson(text)}\n`);
  }

  /** What nobody can read on stderr is lost without a failure. */
  async #tell(text: string): Promise<void> {
    await write(this.terminal.stderr, text).catch(() => {});
  }
}

function failureText({ code, message, hint, context, correlationId }: HvError): string {
  const lines = [`error: ${visibleText(message)} (${code})`];
  if (hint !== undefined) lines.push(`hint: ${visibleText(hint)}`);
  if (typeof context.op === "string") lines.push(`operation: ${visibleText(context.op)}`);
  if (code === "hv.internal") {
    lines.push(`correlation_id: ${correlationId}`);
    if (typeof context.stack === "string") lines.push(visibleLines(context.stack));
  }
  return `${lines.join("\n")}\n`;
}

async function write(stream: OutputStream, text: string): Promise<void> {
  await stream.write(encoder.encode(text));
}
