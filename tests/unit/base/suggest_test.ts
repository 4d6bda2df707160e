import assert from "node:assert/strict";
import fc from "fast-check";
import { editDistance, suggest } from "../../../src/base/suggest.ts";

const KNOWN = ["start", "stop", "status", "read-only", "standard", "vm_delete", "D", "X"];

const CASES: [string, string | undefined][] = [
  ["strat", "start"],
  ["stpo", "stop"],
  ["readonly", "read-only"],
  ["read_only", "read-only"],
  ["Stop", "stop"],
  ["vm-delte", "vm_delete"],
  ["d", "D"],
  ["sandbox", undefined],
  ["", undefined],
  ["--", undefined],
  ["q", undefined],
  ["s".repeat(1000), undefined],
];

for (const [word, expected] of CASES) {
  Deno.test(`"${word.slice(0, 20)}" suggests ${expected ?? "nothing"}`, () => {
    assert.equal(suggest(word, KNOWN), expected);
  });
}

Deno.test("of equally near words the first one wins", () => {
  assert.equal(suggest("bat", ["cat", "hat"]), "cat");
});

Deno.test("nothing is suggested from nothing", () => {
  assert.equal(suggest("start", []), undefined);
});

Deno.test("neighbours swapped count once", () => {
  assert.equal(editDistance("abcd", "abdc"), 1);
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
});

Deno.test("the distance is symmetric, zero for equal texts only, and at most the longer length", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(fc.property(word, word, (from, to) => {
    const distance = editDistance(from, to);
    assert.equal(distance, editDistance(to, from));
    assert.equal(distance === 0, from === to);
    assert.ok(distance <= Math.max(from.length, to.length));
    assert.ok(distance >= Math.abs(from.length - to.length));
  }));
});

Deno.test("a known word suggests itself", () => {
  fc.assert(fc.property(fc.constantFrom(...KNOWN), (word) => assert.equal(suggest(word, KNOWN), word)));
});
