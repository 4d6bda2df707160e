import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { takeGlobals } from "../../../src/cli/globals.ts";
import { tokenize } from "../../../src/cli/tokens.ts";

function take(...argv: string[]): ReturnType<typeof takeGlobals> {
  return takeGlobals(tokenize(argv).tokens);
}

Deno.test("takeGlobals finds global flags wherever they stand and leaves the rest in order", () => {
  const { options, tokens } = take("--state", "/s", "vm", "--json", "list", "--driver=qemu", "--other", "x");
  assert.deepEqual(options, {
    json: true,
    quiet: false,
    progress: true,
    help: false,
    version: false,
    state: "/s",
    driver: "qemu",
  });
  assert.deepEqual(tokens.map(({ text }) => text), ["vm", "list", "--other", "x"]);
});

Deno.test("takeGlobals reads --no-progress and --quiet", () => {
  const { options } = take("--no-progress", "--quiet");
  assert.equal(options.progress, false);
  assert.equal(options.quiet, true);
});

for (
  const [argv, message, hint] of [
    [["--state"], 'The flag "--state" needs a value', "Write it as --state=VALUE"],
    [
      ["--state", "-x"],
      'The flag "--state" needs a value',
      "A value that begins with a dash is written --state=-x",
    ],
    [["--state", "a", "--state", "b"], 'The flag "--state" is given twice', "Give it once"],
    [["--json=yes"], 'The flag "--json" takes no value', "Write --json alone"],
  ] as const
) {
  Deno.test(`takeGlobals refuses ${argv.join(" ")}`, () => {
    assert.throws(() => take(...argv), (error) => {
      assert.ok(error instanceof HvError);
      assert.deepEqual([error.code, error.message, error.hint], ["hv.usage", message, hint]);
      return true;
    });
  });
}
