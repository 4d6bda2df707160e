/** A program for a terminal as the words that an SSH server hands to the user's login shell. */

import type { TerminalCommand } from "../channel.ts";

/**
 * Base64 means the same to every login shell, and what it holds is read by /bin/sh alone. The program's streams are
 * the terminal's, so that its words cannot come over them.
 */
export function terminalLine({ argv, cwd, env = {} }: TerminalCommand): string {
  const script = [
    ...(cwd === undefined ? [] : [`CDPATH= cd -- ${quote(cwd === "-" ? "./-" : cwd)} || exit 127`]),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `exec ${argv.map(quote).join(" ")}`,
  ].join("\n");
  const encoded = new TextEncoder().encode(script).toBase64();
  return `exec /bin/sh -c 'eval "$(printf %s "$1" | base64 -d)"' sh ${encoded}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
