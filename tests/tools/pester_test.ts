import assert from "node:assert/strict";
import { readPesterResult } from "../../tools/stages/pester.ts";

Deno.test("the numbers of Pester are read from its last line", () => {
  assert.deepEqual(readPesterResult("FAILED a: b\npester: 20 passed, 1 failed, 2 skipped\n"), {
    counts: { passed: 20, failed: 1, skipped: 2 },
  });
});

Deno.test("a run of Pester without numbers says why", () => {
  assert.deepEqual(readPesterResult("pester: skipped: pwsh is not installed\n"), {
    counts: undefined,
    note: "skipped: pwsh is not installed",
  });
  assert.match(JSON.stringify(readPesterResult("oops")), /oops/);
});
