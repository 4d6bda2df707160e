import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../../src/base/json.ts";
import { parseCall } from "../../../src/cli/arguments.ts";
import { findCommand } from "../../../src/cli/commands.ts";
import { tokenize } from "../../../src/cli/tokens.ts";
import { writeCommand } from "../../../src/cli/write_command.ts";
import { quoteWord } from "../../../src/host/quote_word.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { runCommandLine } from "../../support/command_line.ts";
import { boxDelete, boxMake, boxRun, filePick } from "../../support/sample_tools.ts";

const LINUX = { os: "linux", options: {} } as const;

/** The words that a shell makes of a line. */
async function split(line: string): Promise<string[]> {
  const args = ["-c", `set -- ${line}\nprintf '%s\\0' "$@"`];
  const { code, stdout } = await new Deno.Command("sh", { args }).output();
  assert.equal(code, 0, line);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

function argumentsOf(tool: Tool, words: readonly string[]): JsonObject {
  const { tokens, rest } = tokenize(words);
  return parseCall(tool, findCommand(tokens, [tool.name]).tokens, rest).args;
}

Deno.test("each argument stands where the command line wants it", () => {
  const line = (tool: Tool, args: JsonObject): string =>
    writeCommand(["plan"], tool, args, ["--json"], LINUX);
  assert.equal(line(boxDelete, { name: "web" }), "hvlab plan box delete web --json");
  assert.equal(line(boxDelete, { name: "my web" }), "hvlab plan box delete 'my web' --json");
  assert.equal(line(boxDelete, { name: "-x" }), "hvlab plan box delete --name=-x --json");
  assert.equal(
    line(boxMake, { name: "a", memory_mb: 2048, label: ["x y", "-z"], tight: false, extra: { a: [1] } }),
    `hvlab plan box make a --memory 2048 --label 'x y' --label=-z --no-tight --extra '{"a":[1]}' --json`,
  );
  assert.equal(
    line(boxRun, { box: "it's", argv: ["rm", "-rf", "a b"] }),
    `hvlab plan box run 'it'\\''s' --json -- rm -rf 'a b'`,
  );
  assert.equal(
    line(filePick, { kind: "red", path: ["a", "b c"] }),
    "hvlab plan file pick-from red a 'b c' --json",
  );
});

Deno.test("what a call was given beside its arguments stays", () => {
  const writtenFor = { os: "linux", options: { state: "/my state", driver: "qemu" } } as const;
  assert.equal(
    writeCommand([], boxDelete, { name: "web" }, [], writtenFor),
    "hvlab box delete web --driver qemu --state '/my state'",
  );
});

Deno.test({
  name: "a shell and the command line make of the line what it was made of",
  ignore: Deno.build.os === "windows",
  async fn() {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 })
      .filter((each) => !each.includes("\0") && each.isWellFormed());
    const odd = fc.oneof(
      text,
      fc.constantFrom("-", "--", "--a=b", "'", "a b", "$x", "~", "*", "=", "!!", "\n"),
    );
    const calls = fc.oneof(
      odd.map((name) => [boxDelete, { name }] as const),
      fc.record({ box: odd, argv: fc.array(odd, { minLength: 1, maxLength: 3 }) })
        .map((args) => [boxRun, args] as const),
      fc.record({
        kind: fc.constantFrom("red", "green"),
        path: fc.array(odd, { minLength: 1, maxLength: 3 }),
      })
        .map((args) => [filePick, args] as const),
    );
    await fc.assert(
      fc.asyncProperty(calls, async ([tool, args]) => {
        const words = await split(writeCommand([], tool, args, [], LINUX));
        assert.equal(words[0], "hvlab");
        assert.deepEqual(argumentsOf(tool, words.slice(1)), { ...args });
      }),
      { numRuns: 60 },
    );
  },
});

Deno.test("on Windows a word is quoted for PowerShell, and for cmd.exe where the same serves both", () => {
  const words = {
    "C:\\labs\\web": "C:\\labs\\web",
    "my web": '"my web"',
    "C:\\my labs\\": "'C:\\my labs\\'",
    "100%": "'100%'",
    "$home": "'$home'",
    "it's": `"it's"`,
    "it's $5": "'it''s $5'",
    "": "''",
  };
  for (const [word, written] of Object.entries(words)) assert.equal(quoteWord(word, "windows"), written);
});

Deno.test("a call without its token tells the line that makes one, and how to confirm, ready to paste", async () => {
  const word = Deno.build.os === "windows" ? '"my web"' : "'my web'";
  const { err } = await runCommandLine(["box", "delete", "my web"]);
  const hint = `hint: Make one with hvlab plan box delete ${word} --json and `;
  assert.ok(err.includes(hint), err);
  assert.ok(err.includes(`or give --confirm ${word}\n`), err);
  const dashed = await runCommandLine(["box", "delete", "--name=-x"]);
  const flag = Deno.build.os === "windows" ? '"--confirm=-x"' : "--confirm=-x";
  assert.ok(dashed.err.includes(`or give ${flag}\n`), dashed.err);
  const { out } = await runCommandLine(["box", "delete", "my web", "--json"]);
  assert.equal(JSON.parse(out).context.make_plan, `hvlab plan box delete ${word} --json`);
});
