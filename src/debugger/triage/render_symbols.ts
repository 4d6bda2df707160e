/** The list of symbol files as text. */

import type { DumpSymbols } from "../../contract/dump_symbols.ts";
import { visibleText } from "../../base/visible_text.ts";

/** Renders the list, missing files first, each as the path that a store has it under. */
export function renderSymbols({ symbols, found, missing, unknown, warnings }: DumpSymbols): string {
  const lines = [`${missing} missing, ${found} found`];
  for (const row of symbols) if (row.found === null) lines.push(`  missing  ${row.url_path}`);
  for (const row of symbols) {
    if (row.found !== null) lines.push(`  found    ${row.url_path}  ${visibleText(row.found)}`);
  }
  if (unknown.length > 0) lines.push(`not told by the dump: ${unknown.join(", ")}`);
  for (const { reason, message } of warnings) lines.push(`warning  ${reason}: ${message}`);
  return lines.join("\n");
}
