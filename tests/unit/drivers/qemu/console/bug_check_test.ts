import assert from "node:assert/strict";
import { bugCheckIn, describeBugCheck } from "../../../../../src/drivers/qemu/console/bug_check.ts";

Deno.test("a bug check is read out of the crash registers, each number whole", () => {
  const crash = { type: "hyper-v", arg1: 10, arg2: "0xffff800000000001", arg3: 2, arg4: 0, arg5: 2 ** 52 };
  assert.deepEqual(bugCheckIn(crash), {
    code: "0x0000000a",
    parameters: ["0xffff800000000001", "0x2", "0x0", "0x10000000000000"],
  });
});

Deno.test("what is no number that can be trusted is not told, and without a code there is no bug check", () => {
  const crash = { type: "hyper-v", arg1: "0x1000007e", arg2: -1, arg3: 2 ** 53, arg4: 1.5, arg5: "1" };
  assert.deepEqual(bugCheckIn(crash), { code: "0x1000007e", parameters: [null, null, null, null] });
  for (const other of [{ type: "hyper-v" }, { type: "s390", arg1: 1 }, { arg1: 1 }, null, []]) {
    assert.equal(bugCheckIn(other), undefined);
  }
});

Deno.test("a code without a name stands alone", async () => {
  const parameters = ["0x1", null, "0x3", "0x4"];
  assert.equal(
    await describeBugCheck({ code: "0xdeadbeef", parameters }),
    "0xdeadbeef (0x1, not told, 0x3, 0x4)",
  );
  assert.equal(
    await describeBugCheck({ code: "0x100000000000", parameters }),
    "0x100000000000 (0x1, not told, 0x3, 0x4)",
  );
});
