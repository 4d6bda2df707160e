/** Tells text from anything else, and decodes it. */

/** Share of bytes that no text has, in which a serial line may still be one: noise, a reset in the middle of a byte. */
const TOLERATED = 0.02;
const BYTE_ORDER_MARK = { low: 0xFF, high: 0xFE } as const;

/** Whether the first bytes of a file look like text: printable characters, line ends, terminal escapes. */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length === 0) return false;
  if (isWide(head)) return true;
  let odd = 0;
  for (const byte of head) if (!isTextByte(byte)) odd++;
  return odd <= head.length * TOLERATED;
}

/** Decodes UTF-8, and UTF-16 that says so; what is neither is replaced. */
export function decodeConsole(bytes: Uint8Array): string {
  return new TextDecoder(isWide(bytes) ? "utf-16le" : "utf-8").decode(bytes);
}

function isWide(bytes: Uint8Array): boolean {
  return bytes[0] === BYTE_ORDER_MARK.low && bytes[1] === BYTE_ORDER_MARK.high;
}

/** Printable, tab, line feed, form feed, carriage return, backspace, bell, escape, and everything of UTF-8. */
function isTextByte(byte: number): boolean {
  return byte >= 0x20 && byte !== 0x7F || byte >= 0x07 && byte <= 0x0D || byte === 0x1B;
}
