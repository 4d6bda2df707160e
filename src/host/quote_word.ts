/** Words of a command line that a person pastes into a shell of this host. */

import { once } from "../base/once.ts";
import { type OperatingSystem, thisOperatingSystem } from "./operating_system.ts";

/** Characters that no shell takes for anything but themselves. */
const PLAIN = /^(?!=)[\w@%+=:,./-]+$/;
/** Those that both of Windows' shells leave alone between double quotes. */
const plainInDoubleQuotes = once(() => /^[^"$`%\p{Cc}]*[^"$`%\\\p{Cc}]$/u);

/** One word as the system's shell must be given it; on Windows PowerShell's way where cmd.exe has another. */
export function quoteWord(word: string, os: OperatingSystem = thisOperatingSystem()): string {
  if (os !== "windows") return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  if (/^[\w+:./\\-]+$/.test(word)) return word;
  return plainInDoubleQuotes().test(word) ? `"${word}"` : `'${word.replaceAll("'", "''")}'`;
}
