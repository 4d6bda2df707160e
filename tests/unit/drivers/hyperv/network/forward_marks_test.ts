import assert from "node:assert/strict";
import fc from "fast-check";
import { readForwards, writeForwards } from "../../../../../src/drivers/hyperv/network/forward_marks.ts";
import { readSwitchMark, writeSwitchMark } from "../../../../../src/drivers/hyperv/network/switch_mark.ts";

const port = fc.integer({ min: 1, max: 65535 });
const forward = fc.record({
  guest_port: port,
  host_address: fc.ipV4(),
  host_port: port,
  address: fc.ipV4(),
  auto: fc.boolean(),
}, { noNullPrototype: true });

Deno.test("forwards come back from a VM's notes, and the rest of the notes stays", () => {
  fc.assert(fc.property(fc.array(forward, { maxLength: 5 }), (forwards) => {
    const notes = writeForwards("mine [hvlab;key=x;]", forwards);
    assert.deepEqual(readForwards(notes), forwards);
    assert.equal(writeForwards(notes, []), "mine [hvlab;key=x;]");
    assert.deepEqual(readForwards(writeForwards(notes, forwards.slice(1))), forwards.slice(1));
  }));
});

Deno.test("what cannot be read in the notes is no forward", () => {
  const broken = "[hvlab-forwards;0.0.0.0:80>10.0.0.1;nonsense;0.0.0.0:81>10.0.0.1:82;]";
  assert.deepEqual(readForwards(broken).map(({ host_port }) => host_port), [81]);
  assert.deepEqual(readForwards(""), []);
});

Deno.test("a switch of ours is known by its mark", () => {
  const created_at = "2026-11-29T11:00:00.000Z";
  assert.deepEqual(readSwitchMark(`text ${writeSwitchMark({ created_at })}`), { created_at });
  const nat = "10.0.0.0/24";
  assert.deepEqual(readSwitchMark(writeSwitchMark({ created_at, nat })), { created_at, nat });
  assert.equal(readSwitchMark("hvlab made this"), undefined);
});
