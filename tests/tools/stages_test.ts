/** What the last line of a whole run says, in a repository in small. */

import assert from "node:assert/strict";
import { type Outcome, ROOT, runProgram } from "../../tools/programs.ts";

/** Runs all stages on a program of one file that is fine, with these test files by name. */
async function runStages(tests: Record<string, string>): Promise<Outcome & { last: string }> {
  const folder = await Deno.makeTempDir({ prefix: "hvlab stages " });
  try {
    for (const name of ["tools/stages", "src/mcp", "src/tools", "tests/unit"]) {
      await Deno.mkdir(`${folder}/${name}`, { recursive: true });
    }
    for (
      const name of [
        "stages.ts",
        "stages/junit.ts",
        "stages/pester.ts",
        "stages/test_run.ts",
        "bundle.ts",
        "programs.ts",
      ]
    ) {
      await Deno.copyFile(`${ROOT}/tools/${name}`, `${folder}/tools/${name}`);
    }
    const fine = {
      "tools/layers.ts": "",
      "tools/docs.ts": "",
      "main.ts": "",
      "src/start.ts": "",
      "src/mcp/sdk.ts": "",
      "src/tools/schema_writer.ts": "",
      "deno.lock": "{}",
    };
    for (const [name, text] of Object.entries(fine)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const config = { imports: {}, nodeModulesDir: "none", fmt: { lineWidth: 110, exclude: ["deno.*"] } };
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));
    for (const [name, text] of Object.entries(tests)) {
      await Deno.writeTextFile(`${folder}/tests/unit/${name}`, text);
    }
    const args = ["run", "-A", "tools/stages.ts"];
    const outcome = await runProgram(Deno.execPath(), args, { cwd: folder });
    return { ...outcome, last: outcome.stdout.trimEnd().split("\n").at(-1) ?? "" };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const PASSES = 'Deno.test("fine", () => {});\n';

Deno.test("a run in which all is well ends in its counts and exit code 0", async () => {
  const { code, stdout, last } = await runStages({ "a_test.ts": PASSES });
  assert.equal(last, "7 passed, 0 failed", stdout);
  assert.equal(code, 0);
});

Deno.test("a failing and a skipped test stand in the last line, and the failure is shown", async () => {
  const { code, stdout, last } = await runStages({
    "a_test.ts": `${PASSES}Deno.test("bad", () => {\n  throw new Error("told");\n});\n`,
    "b_test.ts": 'Deno.test({ name: "absent", ignore: true, fn() {} });\n',
  });
  assert.equal(last, "7 passed, 1 failed, 1 skipped");
  assert.equal(code, 1);
  assert.match(stdout, /error: Error: told/);
  assert.match(stdout, /skipped: absent/);
});

Deno.test("a test file that cannot be loaded is a failure", async () => {
  const { code, last } = await runStages({ "a_test.ts": `${PASSES}throw new Error("at load");\n` });
  assert.match(last, /^\d+ passed, [12] failed$/);
  assert.equal(code, 1);
});

Deno.test("a run without a single test fails", async () => {
  const { code, stdout, last } = await runStages({});
  assert.equal(last, "6 passed, 1 failed");
  assert.match(stdout, /no test ran/);
  assert.equal(code, 1);
});
