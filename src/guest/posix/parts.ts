/** Scripts that answer in parts, each begun by a line with a mark that nothing in the guest could know before. */

import { type Collected, refuseFailed, runCollector } from "../collect.ts";
import type { ProgramRunner } from "../channel.ts";

/** The parts by name. One that the guest did not print is empty. */
export type Parts = ReadonlyMap<string, string>;

/** Runs a script that takes the mark as its argument. */
export async function collectParts(
  channel: ProgramRunner,
  script: string,
  subject: string,
  signal: AbortSignal,
): Promise<Collected & { mark: string; parts: Parts }> {
  const mark = `hv-${crypto.randomUUID()}`;
  const argv = ["/bin/sh", "-c", script, "hvlab", mark];
  const collected = await runCollector(channel, { argv, env: PLAIN_TEXTS }, subject, signal);
  refuseFailed(collected, subject);
  return { ...collected, mark, parts: splitParts(collected.stdout, mark) };
}

/** Programs shall not translate what is read here. */
export const PLAIN_TEXTS: Readonly<Record<string, string>> = { LC_ALL: "C" };

/** Cuts an answer at its marks. */
export function splitParts(text: string, mark: string): Parts {
  const parts = new Map<string, string>();
  for (const piece of text.split(`\n${mark} `).slice(1)) {
    const end = piece.indexOf("\n");
    if (end >= 0) parts.set(piece.slice(0, end), piece.slice(end + 1));
  }
  return parts;
}

/** The lines of a part that are not empty. */
export function linesOf(parts: Parts, name: string): string[] {
  return (parts.get(name) ?? "").split("\n").filter((line) => line !== "");
}
