import assert from "node:assert/strict";
import { VmState } from "../../../src/contract/vm.ts";
import { wayToRun } from "../../../src/drivers/way_on.ts";

Deno.test("each state that a VM stays in has a line that brings it on", () => {
  const ways = VmState.options.map((state) => [state, wayToRun({ id: "vm-1", state })] as const);
  assert.deepEqual(Object.fromEntries(ways.filter(([, way]) => way !== undefined)), {
    off: "Start it with `hvlab vm start vm-1`",
    saved: "Start it with `hvlab vm start vm-1`",
    paused: "Let it go on with `hvlab vm resume vm-1`",
    io_error: "Let it go on with `hvlab vm resume vm-1`",
    crashed: "Restart the VM with `hvlab vm restart vm-1 --mode off`",
  });
});

Deno.test("hvlab does not start what it did not make", () => {
  assert.equal(
    wayToRun({ id: "vm-1", state: "crashed", adopted: true }),
    "Restart it with the program that made it",
  );
});
