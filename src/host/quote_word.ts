/** Words of a command line that a person pastes into a shell of this host. */

import { type OperatingSystem, thisOperatingSystem } from "./operating_system.ts";

/** Characters that no shell takes for anything but themselves. */
const PLAIN = /^(?!=)[\w@%+=:,./-]+$/;
/** Those that both of Windows' shells leave alone between double quotes. */
const PLAIN_IN_DOUBLE_QUOTES = /^[^"$`%\p{Cc}]*[^"$`%\\\p{Cc}]$/u;

/** One word as the system's shell must be given it; on Windows PowerShell's way where cmd.exe has another. */
export function quoteWord(word: string, os: OperatingSystem = thisOperatingSystem()): string {
  if (os !== "windows") return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  if (/^[\w+:./\\-]+$/.test(word)) return word;
  return PLAIN_IN_DOUBLE_QUOTES.test(word) ? `"${word}"` : `'${word.replaceAll("'", "''")}'`;
}
