/** Where the code of an inlined function lies, and on which of its lines: a small program of deltas. */

/** A stretch of code, from the function's begin. `line` counts from the inlined function's own first line. */
export interface InlineStretch {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** Operation codes as the public description of the format names them. */
const OP = {
  codeOffset: 1,
  codeOffsetBase: 2,
  changeCodeOffset: 3,
  changeCodeLength: 4,
  changeFile: 5,
  changeLine: 6,
  codeOffsetAndLine: 11,
  codeLengthAndOffset: 12,
} as const;

/** Runs the program. A stretch without a length ends where the next one begins. */
export function inlineStretches(annotations: Uint8Array): InlineStretch[] {
  const stretches: { start: number; end: number | null; line: number }[] = [];
  let at = 0;
  const next = (): number | null => {
    const [value, length] = decode(annotations, at);
    at += length;
    return value;
  };
  let code = 0;
  let line = 0;
  const begin = () => {
    const last = stretches.at(-1);
    if (last !== undefined && last.end === null) last.end = code;
    stretches.push({ start: code, end: null, line });
  };
  while (at < annotations.length) {
    const op = next();
    if (op === null || op === 0) break;
    const value = next();
    if (value === null) break;
    switch (op) {
      case OP.codeOffset:
        code = value;
        begin();
        break;
      case OP.codeOffsetBase:
      case OP.changeFile:
        break;
      case OP.changeCodeOffset:
        code += value;
        begin();
        break;
      case OP.changeCodeLength: {
        const last = stretches.at(-1);
        if (last !== undefined && last.end === null) last.end = code + value;
        code += value;
        break;
      }
      case OP.changeLine:
        line += signed(value);
        break;
      case OP.codeOffsetAndLine:
        line += signed(value >> 4);
        code += value & 0xF;
        begin();
        break;
      case OP.codeLengthAndOffset: {
        const offset = next();
        if (offset === null) return [];
        code += offset;
        begin();
        const last = stretches.at(-1);
        if (last !== undefined) last.end = code + value;
        code += value;
        break;
      }
    }
  }
  return stretches.map(({ start, end, line }) => ({ start, end: end ?? start, line }));
}

/** One number of one, two or four bytes. */
function decode(bytes: Uint8Array, at: number): [value: number | null, length: number] {
  const [first, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  if (first === undefined) return [null, 1];
  if (first < 0x80) return [first, 1];
  if (first < 0xC0) return [((first & 0x3F) << 8) | second, 2];
  if (first < 0xE0) return [((first & 0x1F) << 24) | (second << 16) | (third << 8) | fourth, 4];
  return [null, 1];
}

/** The lowest bit is the sign. */
function signed(value: number): number {
  return value & 1 ? -(value >> 1) : value >> 1;
}
