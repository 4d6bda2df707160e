import assert from "node:assert/strict";
import fc from "fast-check";
import { visibleJson, visibleLines, visibleText } from "../../../src/base/visible_text.ts";

// deno-lint-ignore no-control-regex
const ACTS_ON_A_TERMINAL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

Deno.test("visibleText shows every control character by its number", () => {
  assert.equal(visibleText("a\x1b[31mb\n\t\x07\x9b\u202ec"), "a\\x1b[31mb\\x0a\\x09\\x07\\x9b\\u{202e}c");
});

Deno.test("visibleText leaves letters of all scripts and joined emoji alone", () => {
  const text = "тест 箱 é 👩‍💻 می‌خواهم";
  assert.equal(visibleText(text), text);
});

Deno.test("visibleText shows half a surrogate pair", () => {
  assert.equal(visibleText("a\ud800"), "a\\u{d800}");
});

Deno.test("visibleText leaves nothing that a terminal acts on", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.doesNotMatch(visibleText(text), ACTS_ON_A_TERMINAL);
  }));
});

Deno.test("visibleLines keeps line breaks and tabs, and a lone carriage return is shown", () => {
  assert.equal(visibleLines("a\r\nb\tc\rd\x1b"), "a\nb\tc\\x0dd\\x1b");
});

Deno.test("visibleJson means the same value, in characters that no terminal acts on", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
    const whole = { value, text };
    const json = visibleJson(JSON.stringify(whole));
    assert.doesNotMatch(json, ACTS_ON_A_TERMINAL);
    assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(whole)));
  }));
});
