import assert from "node:assert/strict";
import fc from "fast-check";
import { hostNameOf } from "../../../../src/flows/machines/fresh_identity.ts";

Deno.test("a VM's name becomes a host name", () => {
  assert.equal(hostNameOf("tiny-1a2b"), "tiny-1a2b");
  assert.equal(hostNameOf("My Box =x%20 'é"), "my-box-x-20");
  assert.equal(hostNameOf("  é  "), "sandbox");
});

Deno.test("whatever the name, the host name is a label that every system takes", () => {
  fc.assert(fc.property(fc.string({ minLength: 0, maxLength: 255, unit: "binary" }), (name) => {
    assert.match(hostNameOf(name), /^(?=.{1,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/);
  }));
});
