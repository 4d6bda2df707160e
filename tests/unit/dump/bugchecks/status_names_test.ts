import assert from "node:assert/strict";
import { nameStatus } from "../../../../src/dump/bugchecks/status_names.ts";

Deno.test("common exception codes have their names", () => {
  const names: [number, string][] = [
    [0x80000003, "STATUS_BREAKPOINT"],
    [0xC0000005, "STATUS_ACCESS_VIOLATION"],
    [0xC0000006, "STATUS_IN_PAGE_ERROR"],
    [0xC000001D, "STATUS_ILLEGAL_INSTRUCTION"],
    [0xC0000094, "STATUS_INTEGER_DIVIDE_BY_ZERO"],
    [0xC0000096, "STATUS_PRIVILEGED_INSTRUCTION"],
    [0xC00000FD, "STATUS_STACK_OVERFLOW"],
    [0xC0000185, "STATUS_IO_DEVICE_ERROR"],
    [0xC0000409, "STATUS_STACK_BUFFER_OVERRUN"],
    [0xC0000420, "STATUS_ASSERTION_FAILURE"],
  ];
  for (const [value, name] of names) assert.equal(nameStatus(value)?.name, name);
  assert.deepEqual(nameStatus(0xC0000135), {
    name: "STATUS_DLL_NOT_FOUND",
    meaning: "a library was not found",
  });
});

Deno.test("a status may come as a signed number", () => {
  assert.equal(nameStatus(-1073741819)?.name, "STATUS_ACCESS_VIOLATION");
});

Deno.test("what the list does not have, and what is no 32-bit number, has no name", () => {
  for (const value of [0xC0001234, 0x1C0000005, -0x13FFFFFFB, 0.5, NaN]) {
    assert.equal(nameStatus(value), null);
  }
});
