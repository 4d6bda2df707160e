/** Taking the middle out of a text. */

/** A text that fits, and how many bytes of UTF-8 are missing from it. */
export interface CutText {
  text: string;
  droppedBytes: number;
}

/**
 * Keeps head and tail of a text so that its form inside JSON takes at most `limit` bytes; between them stands how
 * many bytes were left out. No character is cut in half.
 */
export function cutText(text: string, limit: number): CutText {
  if (jsonLength(text) <= limit) return { text, droppedBytes: 0 };
  let kept = Math.floor((limit * text.length) / jsonLength(text));
  for (;;) {
    const half = Math.floor(kept / 2);
    const head = wholeCharacters(text.slice(0, half), "end");
    const tail = wholeCharacters(half === 0 ? "" : text.slice(-half), "start");
    const droppedBytes = byteLength(text) - byteLength(head) - byteLength(tail);
    const cut = `${head}\n[${droppedBytes} bytes left out]\n${tail}`;
    if (jsonLength(cut) <= limit || kept === 0) return { text: cut, droppedBytes };
    kept = Math.floor(kept * 0.9);
  }
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Bytes of a text as it stands in JSON, without its quotes. */
function jsonLength(text: string): number {
  return byteLength(JSON.stringify(text)) - 2;
}

/** Drops half of a surrogate pair at the cut. */
function wholeCharacters(text: string, side: "start" | "end"): string {
  if (side === "end") return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
}
