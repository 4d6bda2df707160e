/** Text in columns. */

import { once } from "../base/once.ts";

/** Characters that take two cells in a terminal: East Asian wide forms and emoji. Made when needed, for it takes 0.1 ms. */
const wide = once(() =>
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u
);
/** Characters that take none: combining marks and joiners. */
const zero = once(() => /[\p{Mn}\p{Me}\u200C\u200D\uFE00-\uFE0F]/u);

/** How many cells of a terminal a text takes, closely enough for columns. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += zero().test(character) ? 0 : wide().test(character) ? 2 : 1;
  return width;
}

/** Lines of cells, each column as wide as its widest cell, two spaces apart, without spaces at the ends of lines. */
export function inColumns(rows: readonly (readonly string[])[], indent = ""): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell)));
  }
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - displayWidth(cell)));
    return (indent + cells.join("  ")).trimEnd();
  }).join("\n");
}
