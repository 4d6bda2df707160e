/** Running a collector in a guest: fixed text that only reads, whose values come apart from it. */

import { BoundedBytes } from "../base/bounded_bytes.ts";
import { HvError } from "../base/errors.ts";
import type { GuestCommand, ProgramRunner } from "./channel.ts";

/** What a collector printed. */
export interface Collected {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Whether it printed more than is kept. */
  truncated: boolean;
}

const KEPT_BYTES = 16 * 1024 * 1024;
const WORDS_KEPT = { head: 8 * 1024, tail: 1024 };

/** Exit code with which a collector says that the guest has not what it reads; its output says what. */
const NOT_THERE = 3;

/**
 * Runs a collector to its end. Throws `hv.unsupported` when it finds nothing to read, and what the channel throws.
 * `subject` says in failures what was looked for.
 */
export async function runCollector(
  channel: ProgramRunner,
  command: GuestCommand,
  subject: string,
  signal: AbortSignal,
): Promise<Collected> {
  const out = new BoundedBytes({ head: KEPT_BYTES, tail: 1 });
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await channel.exec(command, {
    stdout: (bytes) => Promise.resolve(out.push(bytes)),
    stderr: (bytes) => Promise.resolve(err.push(bytes)),
  }, signal);
  const { head, dropped } = out.parts();
  const stdout = new TextDecoder().decode(head);
  if (exit_code === NOT_THERE) {
    throw new HvError("hv.unsupported", `The guest tells nothing of its ${subject}: ${stdout.trim()}`, {
      hint: "Look with a program of its own: `hvlab guest exec`",
      context: { subject, missing: stdout.trim() },
    });
  }
  return { code: exit_code, stdout, stderr: err.toText().text.trim(), truncated: dropped > 0 };
}

/** Throws `hv.job_failed` for a collector that did not end as it should. */
export function refuseFailed({ code, stderr }: Collected, subject: string): void {
  if (code === 0) return;
  throw new HvError("hv.job_failed", `The guest cannot list its ${subject}: ${stderr || `code ${code}`}`, {
    hint: "Look whether the account may read them, and whether the guest is well",
    context: { subject, exit_code: code, reason: stderr },
  });
}

/** A list cut to its limit, with what the whole would have been. */
export function cutList<T>(items: readonly T[], limit: number, truncated: boolean): {
  items: T[];
  found: number;
  truncated?: true;
} {
  const isCut = truncated || items.length > limit;
  return {
    items: items.slice(0, limit),
    found: items.length,
    ...(isCut ? { truncated: true as const } : {}),
  };
}

/** Whether a text has another one in it, whatever the case of their letters. */
export function holds(text: string | undefined, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}
