/** Keys of a keyboard by their place, named after what a US keyboard shows there. */

import * as z from "zod/mini";

/** Every key that can be pressed. `extra` is the one beside the left shift key that US keyboards lack. */
export const KEY_NAMES = [
  ...(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"] as const),
  ...(["n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"] as const),
  ...(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"] as const),
  ...(["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"] as const),
  ...(["ctrl", "ctrl_right", "shift", "shift_right", "alt", "altgr", "meta", "meta_right", "menu"] as const),
  ...(["enter", "escape", "backspace", "tab", "space", "caps_lock", "num_lock", "scroll_lock"] as const),
  ...(["up", "down", "left", "right", "home", "end", "page_up", "page_down", "insert", "delete"] as const),
  ...(["grave", "minus", "equal", "bracket_left", "bracket_right", "backslash", "semicolon"] as const),
  ...(["apostrophe", "comma", "dot", "slash", "extra", "print"] as const),
] as const;
export type KeyName = typeof KEY_NAMES[number];

/** Keys pressed together, such as `ctrl-alt-delete`; the one that is meant stands last. */
export const KeyChord = z.string().check(
  z.minLength(1),
  z.maxLength(64),
  z.describe("Keys joined by -, such as ctrl-alt-delete"),
);

/** The arrangement of characters on the keyboard that the guest believes in. */
export const KeyboardLayout = z.enum(["us", "gb", "de", "fr"]);
export type KeyboardLayout = z.infer<typeof KeyboardLayout>;
