/** Keys as hypervisors are told them. */

import type { KeyName } from "../contract/keys.ts";

/** A key goes down or comes up. */
export interface KeyStroke {
  key: KeyName;
  down: boolean;
}

/** How one key is named to a machine. */
interface KeyCodes {
  /** QEMU's name (QKeyCode of its QMP reference). */
  qcode: string;
  /** The make code of scan code set 1; 0xE0 stands before those of keys that the first PC did not have. */
  scancode: readonly number[];
}

const EXTENDED = 0xe0;
/** Set in the last byte of a break code. */
const RELEASED = 0x80;

const row = (keys: readonly KeyName[], first: number): [KeyName, KeyCodes][] =>
  keys.map((key, index) => [key, { qcode: key, scancode: [first + index] }]);

const named = (entries: readonly [KeyName, string, ...number[]][]): [KeyName, KeyCodes][] =>
  entries.map(([key, qcode, ...scancode]) => [key, { qcode, scancode }]);

/** Rows of keys whose scan codes follow each other, then the others. */
const CODES: ReadonlyMap<KeyName, KeyCodes> = new Map([
  ...row(["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "minus", "equal"], 0x02),
  ...row(["q", "w", "e", "r", "t", "y", "u", "i", "o", "p", "bracket_left", "bracket_right"], 0x10),
  ...row(["a", "s", "d", "f", "g", "h", "j", "k", "l", "semicolon", "apostrophe"], 0x1e),
  ...row(["z", "x", "c", "v", "b", "n", "m", "comma", "dot", "slash"], 0x2c),
  ...row(["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10"], 0x3b),
  ...named([
    ["escape", "esc", 0x01],
    ["backspace", "backspace", 0x0e],
    ["tab", "tab", 0x0f],
    ["enter", "ret", 0x1c],
    ["ctrl", "ctrl", 0x1d],
    ["grave", "grave_accent", 0x29],
    ["shift", "shift", 0x2a],
    ["backslash", "backslash", 0x2b],
    ["shift_right", "shift_r", 0x36],
    ["alt", "alt", 0x38],
    ["space", "spc", 0x39],
    ["caps_lock", "caps_lock", 0x3a],
    ["num_lock", "num_lock", 0x45],
    ["scroll_lock", "scroll_lock", 0x46],
    ["extra", "less", 0x56],
    ["f11", "f11", 0x57],
    ["f12", "f12", 0x58],
    ["ctrl_right", "ctrl_r", EXTENDED, 0x1d],
    ["print", "print", EXTENDED, 0x37],
    ["altgr", "alt_r", EXTENDED, 0x38],
    ["home", "home", EXTENDED, 0x47],
    ["up", "up", EXTENDED, 0x48],
    ["page_up", "pgup", EXTENDED, 0x49],
    ["left", "left", EXTENDED, 0x4b],
    ["right", "right", EXTENDED, 0x4d],
    ["end", "end", EXTENDED, 0x4f],
    ["down", "down", EXTENDED, 0x50],
    ["page_down", "pgdn", EXTENDED, 0x51],
    ["insert", "insert", EXTENDED, 0x52],
    ["delete", "delete", EXTENDED, 0x53],
    ["meta", "meta_l", EXTENDED, 0x5b],
    ["meta_right", "meta_r", EXTENDED, 0x5c],
    ["menu", "menu", EXTENDED, 0x5d],
  ]),
]);

/** QEMU's name of a key. */
export function qcodeOf(key: KeyName): string {
  return codesOf(key).qcode;
}

/** The bytes that a keyboard sends for strokes, in scan code set 1. */
export function scancodesOf(strokes: readonly KeyStroke[]): number[] {
  return strokes.flatMap(({ key, down }) => {
    const { scancode } = codesOf(key);
    return down ? scancode : scancode.map((byte) => byte === EXTENDED ? byte : byte | RELEASED);
  });
}

function codesOf(key: KeyName): KeyCodes {
  const codes = CODES.get(key);
  if (codes === undefined) throw new RangeError(`The key "${key}" has no code`);
  return codes;
}
