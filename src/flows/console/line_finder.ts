/** What is looked for in lines: a text as it is, or a regular expression within a limit. */

import type { Clock } from "../../base/clock.ts";
import { HvError } from "../../base/errors.ts";
import { type LineHit, LineThread } from "../../host/line_thread.ts";

/** Looks through lines for the first that has it. */
export interface LineFinder extends Disposable {
  find(lines: readonly string[], signal: AbortSignal): Promise<LineHit | undefined>;
}

/** An expression looks through a megabyte of text in a few milliseconds; one that takes that long takes for ever. */
export const EXPRESSION_LIMIT_MS = 10_000;

/** Finds a text. */
export function textFinder(text: string): LineFinder {
  return {
    find(lines) {
      const line = lines.findIndex((each) => each.includes(text));
      const at = lines[line]?.indexOf(text);
      return Promise.resolve(at === undefined ? undefined : { line, at });
    },
    [Symbol.dispose]: () => {},
  };
}

/**
 * Finds a regular expression, whose letters are whole characters. Throws `hv.usage` for a text that is none; looking
 * throws it with the reason `slow_expression` when it needs longer than {@link EXPRESSION_LIMIT_MS} for what it was
 * given.
 */
export function expressionFinder(source: string, clock: Clock): LineFinder {
  refuseBroken(source);
  const thread = new LineThread(source);
  return {
    async find(lines, signal) {
      const limit = new AbortController();
      const timer = new AbortController();
      const late = (): void => limit.abort(tooSlow(source, lines));
      clock.sleep(EXPRESSION_LIMIT_MS, timer.signal).then(late, () => {});
      try {
        return await thread.find(lines, AbortSignal.any([signal, limit.signal]));
      } finally {
        timer.abort();
      }
    },
    [Symbol.dispose]: () => thread[Symbol.dispose](),
  };
}

function refuseBroken(source: string): void {
  try {
    new RegExp(source, "u");
  } catch (error) {
    throw new HvError(
      "hv.usage",
      `"${source}" is no regular expression: ${error instanceof Error ? error.message : ""}`,
      {
        hint: "Leave --regex out to look for the text as it is",
        context: { serial: source },
      },
    );
  }
}

function tooSlow(source: string, lines: readonly string[]): HvError {
  const seconds = EXPRESSION_LIMIT_MS / 1000;
  return new HvError(
    "hv.usage",
    `The expression "${source}" needs longer than ${seconds} s for ${lines.length} lines of the serial line's log`,
    {
      hint: "Write it without repetitions within repetitions, or leave --regex out to look for a text",
      context: { serial: source, reason: "slow_expression", lines: lines.length, limit_s: seconds },
    },
  );
}
