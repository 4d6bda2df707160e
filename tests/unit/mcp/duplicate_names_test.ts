import assert from "node:assert/strict";
import fc from "fast-check";
import { findDuplicateName } from "../../../src/mcp/duplicate_names.ts";

Deno.test("JSON that was written from values holds no name twice", () => {
  fc.assert(fc.property(fc.json(), (json) => {
    assert.equal(findDuplicateName(json), undefined);
  }));
});

Deno.test("a name that stands twice is found wherever the object is", () => {
  fc.assert(fc.property(
    fc.string(),
    fc.json(),
    fc.json(),
    fc.array(fc.constantFrom("list", "field")),
    (name, first, second, around) => {
      const inner = `{"a ${"\\"}"": 1, ${JSON.stringify(`x${name}`)}: ${first}, ${
        JSON.stringify(`x${name}`)
      }: ${second}}`;
      const json = around.reduce((text, kind) => kind === "list" ? `[0, ${text}]` : `{"f": ${text}}`, inner);
      JSON.parse(json);
      assert.equal(findDuplicateName(json), `x${name}`);
    },
  ));
});

for (
  const [json, expected] of [
    ['{"a":1,"b":{"a":1}}', undefined],
    ['[{"a":1},{"a":1}]', undefined],
    ['{"a":["a","a"],"b":"a"}', undefined],
    ['{"a":{"b":1},"a":2}', "a"],
    ['{"a":[{}],"a":2}', "a"],
    ['{"confirm":"x","\\u0063onfirm":"y"}', "confirm"],
    ['{"a\\\\":1,"a":2}', undefined],
    ['"a"', undefined],
    ["{}", undefined],
  ] as const
) {
  Deno.test(`findDuplicateName ${json} -> ${expected}`, () => {
    assert.equal(findDuplicateName(json), expected);
  });
}
