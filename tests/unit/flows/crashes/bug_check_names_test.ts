import assert from "node:assert/strict";
import type { JsonObject } from "../../../../src/base/json.ts";
import { nameBugChecks } from "../../../../src/flows/crashes/bug_check_names.ts";

async function named(details: JsonObject): Promise<unknown> {
  const event = { seq: 1, at: "2026-11-29T00:00:00.000Z", vm: "vm-1", event: "crashed", details } as const;
  return (await nameBugChecks([event]))[0]?.details;
}

Deno.test("a bug check that is known gets its name, and everything else stays as it is", async () => {
  const parameters = ["0x3", "0xaaaa", "0xbbbb", "0xcccc"];
  assert.deepEqual(await named({ action: "pause", bug_check: { code: "0x00000139", parameters } }), {
    action: "pause",
    bug_check: { code: "0x00000139", parameters, name: "KERNEL_SECURITY_CHECK_FAILURE" },
  });
  for (const code of ["0xdeadbeef", "0xffffffffffffffff", "nonsense", ""]) {
    const unknown = { bug_check: { code, parameters } };
    assert.deepEqual(await named(unknown), unknown);
  }
  assert.deepEqual(await named({ action: "pause" }), { action: "pause" });
});
