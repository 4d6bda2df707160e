/** What a debugger wrote, as text: its log is UTF-16, its standard output is whatever it likes. */

/** Kept bytes of a stream or file as text. */
export interface DebuggerText {
  readonly text: string;
  readonly droppedBytes: number;
}

/** Head and tail that were kept of a longer whole. */
export interface KeptParts {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly dropped: number;
}

/** Reads head and tail in the encoding that the head shows. A gap is stated on a line of its own; lines end in LF. */
export function readDebuggerText(parts: KeptParts): DebuggerText {
  const { text, droppedBytes } = decodeParts(parts);
  return { text: text.replaceAll("\r\n", "\n"), droppedBytes };
}

function decodeParts({ head, tail, dropped }: KeptParts): DebuggerText {
  const wide = looksWide(head);
  const decoder = wide ? "utf-16le" : "utf-8";
  if (dropped === 0) {
    const whole = new TextDecoder(decoder);
    return { text: whole.decode(head, { stream: true }) + whole.decode(tail), droppedBytes: 0 };
  }
  const first = new TextDecoder(decoder).decode(head);
  // Half a character at the seam would turn all that follows into another language.
  const start = wide && (head.length + dropped) % 2 === 1 ? 1 : 0;
  const last = new TextDecoder(decoder, { ignoreBOM: true }).decode(tail.subarray(start));
  return { text: `${first}\n[... ${dropped} bytes are missing here ...]\n${last}`, droppedBytes: dropped };
}

/** A byte order mark, or every second byte of the beginning zero. */
function looksWide(bytes: Uint8Array): boolean {
  if (bytes[0] === 0xFF && bytes[1] === 0xFE) return true;
  const pairs = Math.min(32, bytes.length >> 1);
  if (pairs === 0) return false;
  let zeros = 0;
  for (let pair = 0; pair < pairs; pair++) if (bytes[2 * pair + 1] === 0) zeros++;
  return zeros * 4 > pairs * 3;
}
