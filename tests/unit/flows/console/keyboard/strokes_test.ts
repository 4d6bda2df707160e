import assert from "node:assert/strict";
import fc from "fast-check";
import { KEY_NAMES, KeyboardLayout } from "../../../../../src/contract/keys.ts";
import { type KeyStroke, qcodeOf, scancodesOf } from "../../../../../src/drivers/keyboard.ts";
import { KEY_ROWS, LAYOUTS } from "../../../../../src/flows/console/keyboard/layouts.ts";
import { strokesOfKeys, strokesOfText } from "../../../../../src/flows/console/keyboard/strokes.ts";
import { failureOf } from "../../../../support/failures.ts";

/** Strokes in short: `+key` goes down, `-key` comes up. */
function shortOf(strokes: readonly KeyStroke[]): string {
  return strokes.map(({ key, down }) => `${down ? "+" : "-"}${key}`).join(" ");
}

Deno.test("each layout types its own characters with its own keys", () => {
  const typed = (text: string, layout: KeyboardLayout): string => shortOf(strokesOfText(text, layout));
  assert.equal(typed("a?", "us"), "+a -a +shift +slash -slash -shift");
  assert.equal(typed("z@", "de"), "+y -y +altgr +q -q -altgr");
  assert.equal(typed("a1", "fr"), "+q -q +shift +1 -1 -shift");
  assert.equal(typed('"#', "gb"), "+shift +2 -2 -shift +backslash -backslash");
  assert.equal(typed("\\|", "gb"), "+extra -extra +shift +extra -extra -shift");
  assert.equal(typed("^", "de"), "+grave -grave +space -space", "a dead key needs a space");
  assert.equal(typed("^", "fr"), "+altgr +9 -9 -altgr", "one that is not dead needs none");
  assert.equal(typed("\r\n\t ", "us"), "+enter -enter +tab -tab +space -space");
});

Deno.test("every layout types all of ASCII", () => {
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
  for (const layout of KeyboardLayout.options) {
    for (const character of printable) {
      assert.ok(strokesOfText(character, layout).length > 0, `${layout} ${character}`);
    }
  }
});

Deno.test("the rows of every layout are as long as the keys that they stand for", () => {
  for (const [name, { plain, shift, altgr }] of Object.entries(LAYOUTS)) {
    for (const [index, keys] of KEY_ROWS.entries()) {
      for (const rows of [plain, shift]) assert.equal([...rows[index] ?? ""].length, keys.length, name);
      assert.ok([...altgr[index] ?? ""].length <= keys.length, name);
    }
  }
});

Deno.test("after any text all keys are up again", () => {
  const layouts = fc.constantFrom(...KeyboardLayout.options);
  fc.assert(fc.property(layouts, fc.string({ unit: "grapheme-ascii" }), (layout, text) => {
    const down = new Set<string>();
    for (const stroke of strokesOfText(text, layout)) {
      if (stroke.down) down.add(stroke.key);
      else assert.ok(down.delete(stroke.key));
    }
    assert.deepEqual([...down], []);
  }));
});

Deno.test("chords are pressed in their order and let go in the other", () => {
  assert.equal(shortOf(strokesOfKeys("ctrl-alt-delete")), "+ctrl +alt +delete -delete -alt -ctrl");
  assert.equal(shortOf(strokesOfKeys("Ctrl-Esc")), "+ctrl +escape -escape -ctrl");
  assert.equal(shortOf(strokesOfKeys("-")), "+minus -minus");
});

Deno.test("what has no key is named with what comes near", async () => {
  const text = await failureOf("hv.usage", () => Promise.resolve().then(() => strokesOfText("abü", "us")));
  assert.deepEqual([text.context.character, text.context.position], ["ü", 3]);
  const key = await failureOf("hv.usage", () => Promise.resolve().then(() => strokesOfKeys("ctrl-dlete")));
  assert.match(key.hint ?? "", /"delete"/);
});

Deno.test("every key has a name for QEMU and a scan code of its own", () => {
  assert.equal(new Set(KEY_NAMES.map(qcodeOf)).size, KEY_NAMES.length);
  const codes = KEY_NAMES.map((key) => scancodesOf([{ key, down: true }]).join(" "));
  assert.equal(new Set(codes).size, KEY_NAMES.length);
});

Deno.test("scan codes are those of the first PC's keyboard, and of its followers behind 0xE0", () => {
  const press = (chord: string): number[] => scancodesOf(strokesOfKeys(chord));
  assert.deepEqual(press("enter"), [0x1c, 0x9c]);
  assert.deepEqual(press("f12"), [0x58, 0xd8]);
  assert.deepEqual(press("slash"), [0x35, 0xb5]);
  assert.deepEqual(press("p"), [0x19, 0x99]);
  assert.deepEqual(press("m"), [0x32, 0xb2]);
  assert.deepEqual(press("f10"), [0x44, 0xc4]);
  assert.deepEqual(press("delete"), [0xe0, 0x53, 0xe0, 0xd3]);
});
