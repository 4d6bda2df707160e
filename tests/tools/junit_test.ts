/** Counting what a real test run reports. */

import assert from "node:assert/strict";
import { runProgram } from "../../tools/programs.ts";
import { readCounts } from "../../tools/stages/junit.ts";

Deno.test("passed, failed and skipped tests and steps of a real run are counted", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/a_test.ts`,
      `Deno.test("fine", () => {});
       Deno.test("steps", async (t) => {
         await t.step("good", () => {});
         await t.step({ name: "left <out>", ignore: true, fn() {} });
         await t.step("bad", () => { throw new Error("x"); });
       });
       Deno.test({ name: "not here", ignore: true, fn() {} });
      `,
    );
    await Deno.writeTextFile(`${folder}/b_test.ts`, `Deno.test("also fine", () => {});`);
    const args = ["test", "--no-config", "--no-check", `--junit-path=${folder}/report.xml`, folder];
    assert.equal((await runProgram(Deno.execPath(), args)).code, 1);
    const { counts, skipped } = readCounts(await Deno.readTextFile(`${folder}/report.xml`));
    assert.deepEqual(counts, { passed: 3, failed: 2, skipped: 2 });
    assert.deepEqual(skipped.sort(), ["not here", "steps > left <out>"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an empty report counts nothing", () => {
  assert.deepEqual(readCounts("").counts, { passed: 0, failed: 0, skipped: 0 });
});
