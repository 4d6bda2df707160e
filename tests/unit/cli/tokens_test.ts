import assert from "node:assert/strict";
import fc from "fast-check";
import { tokenize } from "../../../src/cli/tokens.ts";

Deno.test("tokenize splits flags at the first equals sign", () => {
  assert.deepEqual(tokenize(["vm", "--name=-x=y", "--json", "-h", "-", ""]).tokens, [
    { kind: "word", text: "vm" },
    { kind: "flag", name: "name", value: "-x=y", text: "--name" },
    { kind: "flag", name: "json", value: undefined, text: "--json" },
    { kind: "flag", name: "help", value: undefined, text: "-h" },
    { kind: "word", text: "-" },
    { kind: "word", text: "" },
  ]);
});

Deno.test("tokenize keeps everything after the first -- as it is", () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: "binary" })), (rest) => {
    assert.deepEqual(tokenize(["vm", "--", ...rest]), { tokens: [{ kind: "word", text: "vm" }], rest });
  }));
});

Deno.test("tokenize tells an empty rest from none", () => {
  assert.deepEqual(tokenize(["vm", "--"]).rest, []);
  assert.equal(tokenize(["vm"]).rest, undefined);
});
