/** Names that stand twice in one JSON object: parsers keep the last in silence, and a gate may have read the first. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** The first name that an object of this valid JSON text holds twice; `undefined` when there is none. */
export function findDuplicateName(json: string): string | undefined {
  /** The names of every open object; `undefined` stands for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let nameFollows = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(json, at);
        const names = open.at(-1);
        if (nameFollows && names !== undefined) {
          const name = String(JSON.parse(json.slice(at, end + 1)));
          if (names.has(name)) return name;
          names.add(name);
        }
        nameFollows = false;
        at = end;
        break;
      }
      case OPENING_BRACE:
        open.push(new Set());
        nameFollows = true;
        break;
      case OPENING_BRACKET:
        open.push(undefined);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        open.pop();
        nameFollows = false;
        break;
      case COMMA:
        nameFollows = open.at(-1) !== undefined;
        break;
    }
  }
  return undefined;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
