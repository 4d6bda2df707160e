/** From what is to be typed to the strokes of keys that type it. */

import { HvError } from "../../../base/errors.ts";
import { suggest } from "../../../base/suggest.ts";
import { visibleText } from "../../../base/visible_text.ts";
import { KEY_NAMES, type KeyboardLayout, type KeyName } from "../../../contract/keys.ts";
import type { KeyStroke } from "../../../drivers/keyboard.ts";
import { KEY_ROWS, type Layout, LAYOUTS, NOTHING } from "./layouts.ts";

const SHORT_NAMES: Readonly<Record<string, KeyName>> = {
  control: "ctrl",
  esc: "escape",
  return: "enter",
  del: "delete",
  ins: "insert",
  pgup: "page_up",
  pgdn: "page_down",
  win: "meta",
  super: "meta",
  sysrq: "print",
};

/** Keys whose character is on every layout the same. */
const CONTROLS: ReadonlyMap<string, readonly KeyName[]> = new Map([
  ["\n", ["enter"]],
  ["\r", ["enter"]],
  ["\t", ["tab"]],
  ["\b", ["backspace"]],
  ["\u001b", ["escape"]],
  [" ", ["space"]],
]);

/**
 * The strokes that type a text on a keyboard of this layout. Throws `hv.usage` when it has no key for a character;
 * nothing has been pressed then.
 */
export function strokesOfText(text: string, layout: KeyboardLayout): KeyStroke[] {
  const chords = chordsOf(LAYOUTS[layout]);
  return [...text.replaceAll("\r\n", "\n")].flatMap((character, index) => {
    const presses = chords.get(character);
    if (presses !== undefined) return presses.flatMap(strokesOfChord);
    throw new HvError(
      "hv.usage",
      `The keyboard layout "${layout}" has no key for "${visibleText(character)}" (character ${index + 1})`,
      {
        hint: "Choose another --layout, or write to the serial line",
        context: { layout, character, position: index + 1, layouts: Object.keys(LAYOUTS) },
      },
    );
  });
}

/**
 * The strokes of keys that are pressed together, such as `ctrl-alt-delete`: down in this order, up in the other. Throws
 * `hv.usage` for a name that is no key's.
 */
export function strokesOfKeys(chord: string): KeyStroke[] {
  const names = chord === "-" ? ["minus"] : chord.toLowerCase().split("-");
  return strokesOfChord(names.map((name) => readKey(name, chord)));
}

function readKey(name: string, chord: string): KeyName {
  const wanted = SHORT_NAMES[name] ?? name;
  const key = KEY_NAMES.find((known) => known === wanted);
  if (key !== undefined) return key;
  const near = suggest(name, [...KEY_NAMES, ...Object.keys(SHORT_NAMES)]);
  throw new HvError("hv.usage", `There is no key "${name}" (in "${chord}")`, {
    hint: near === undefined ? `The keys are ${KEY_NAMES.join(", ")}` : `Did you mean "${near}"?`,
    context: { key: name, keys: [...KEY_NAMES] },
  });
}

function strokesOfChord(keys: readonly KeyName[]): KeyStroke[] {
  return [
    ...keys.map((key) => ({ key, down: true })),
    ...keys.toReversed().map((key) => ({ key, down: false })),
  ];
}

/** For each character the keys that are pressed one after the other, each with its modifier. */
function chordsOf(layout: Layout): Map<string, readonly (readonly KeyName[])[]> {
  const chords = new Map<string, readonly (readonly KeyName[])[]>();
  const levels = [
    [layout.plain, []],
    [layout.shift, ["shift"]],
    [layout.altgr, ["altgr"]],
  ] as const;
  for (const [rows, modifiers] of levels) {
    rows.forEach((characters, row) =>
      [...characters].forEach((character, column) => {
        const key = KEY_ROWS[row]?.[column];
        if (key === undefined || character === NOTHING || chords.has(character)) return;
        const press = [...modifiers, key];
        chords.set(character, layout.dead.includes(character) ? [press, ["space"]] : [press]);
      })
    );
  }
  for (const [character, keys] of CONTROLS) chords.set(character, [keys]);
  return chords;
}
