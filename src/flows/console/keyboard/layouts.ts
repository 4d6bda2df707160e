/**
 * Which key gives which character, for each layout. Sources: the layout pages of Microsoft's documentation ("Windows
 * keyboard layouts"), and the keyboards themselves.
 */

import type { KeyboardLayout, KeyName } from "../../../contract/keys.ts";

/** The keys that give characters, row by row as they lie on a keyboard. */
export const KEY_ROWS: readonly (readonly KeyName[])[] = [
  ["grave", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "minus", "equal"],
  ["q", "w", "e", "r", "t", "y", "u", "i", "o", "p", "bracket_left", "bracket_right", "backslash"],
  ["a", "s", "d", "f", "g", "h", "j", "k", "l", "semicolon", "apostrophe"],
  ["extra", "z", "x", "c", "v", "b", "n", "m", "comma", "dot", "slash"],
];

/** Stands where a key gives nothing. */
export const NOTHING = " ";

/** The characters of the rows, each in the order of {@link KEY_ROWS}. */
export interface Layout {
  plain: readonly string[];
  shift: readonly string[];
  /** With the right Alt key; a row that is shorter gives nothing at its end. */
  altgr: readonly string[];
  /** Characters whose key waits for another one, so that a space must follow. */
  dead: string;
}

/** All layouts. */
export const LAYOUTS: Readonly<Record<KeyboardLayout, Layout>> = {
  us: {
    plain: ["`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", " zxcvbnm,./"],
    shift: ["~!@#$%^&*()_+", "QWERTYUIOP{}|", 'ASDFGHJKL:"', " ZXCVBNM<>?"],
    altgr: [],
    dead: "",
  },
  gb: {
    plain: ["`1234567890-=", "qwertyuiop[]#", "asdfghjkl;'", "\\zxcvbnm,./"],
    shift: ['¬!"£$%^&*()_+', "QWERTYUIOP{}~", "ASDFGHJKL:@", "|ZXCVBNM<>?"],
    altgr: ["¦   €"],
    dead: "",
  },
  de: {
    plain: ["^1234567890ß´", "qwertzuiopü+#", "asdfghjklöä", "<yxcvbnm,.-"],
    shift: ['°!"§$%&/()=?`', "QWERTZUIOPÜ*'", "ASDFGHJKLÖÄ", ">YXCVBNM;:_"],
    altgr: ["  ²³   {[]}\\", "@ €        ~", "", "|      µ"],
    dead: "^´`",
  },
  fr: {
    plain: ["²&é\"'(-è_çà)=", "azertyuiop $*", "qsdfghjklmù", "<wxcvbn,;:!"],
    shift: [" 1234567890°+", "AZERTYUIOP¨£µ", "QSDFGHJKLM%", ">WXCVBN?./§"],
    altgr: ["  ~#{[|`\\^@]}", "  €        ¤"],
    dead: "¨~`",
  },
};
