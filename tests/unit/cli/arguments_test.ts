import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { parseCall, type ParsedCall } from "../../../src/cli/arguments.ts";
import { tokenize } from "../../../src/cli/tokens.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { boxDelete, boxList, boxMake, boxRun, filePick } from "../../support/sample_tools.ts";

function parse(tool: Tool, ...argv: string[]): ParsedCall {
  const { tokens, rest } = tokenize(argv);
  return parseCall(tool, tokens, rest);
}

function failureOf(tool: Tool, ...argv: string[]): HvError {
  try {
    parse(tool, ...argv);
  } catch (error) {
    if (error instanceof HvError) return error;
    throw error;
  }
  throw new Error(`"${argv.join(" ")}" was taken`);
}

Deno.test("parseCall reads every type of field", () => {
  const call = parse(
    boxMake,
    ...[
      "web",
      "--memory",
      "2G",
      "--size",
      "1KiB",
      "--ttl",
      "1h30m",
      "--pause=1.5s",
      "--count=-3",
      "--ratio",
      "0.5",
    ],
    ...["--mode", "hard", "--label", "a", "--no-tight", "--label=-b", "--extra", '{"a": [1]}'],
  );
  assert.deepEqual(call, {
    args: {
      name: "web",
      memory_mb: 2048,
      size_bytes: 1024,
      ttl_s: 5400,
      pause_ms: 1500,
      count: -3,
      ratio: 0.5,
      mode: "hard",
      label: ["a", "-b"],
      tight: false,
      extra: { a: [1] },
    },
  });
});

Deno.test("parseCall takes the full name of a field with a unit, in the field's own unit", () => {
  assert.deepEqual(parse(boxMake, "web", "--memory-mb", "512", "--ttl-s", "90").args, {
    name: "web",
    memory_mb: 512,
    ttl_s: 90,
  });
  assert.equal(parse(boxMake, "web", "--memory", "512").args.memory_mb, 512);
});

Deno.test("parseCall leaves out what was not given, so that the tool's own defaults hold", () => {
  assert.deepEqual(parse(boxMake, "web").args, { name: "web" });
});

Deno.test("parseCall takes a positional argument as a flag, and a value with a dash through it", () => {
  assert.deepEqual(parse(boxMake, "--name=-x").args, { name: "-x" });
  assert.deepEqual(parse(boxMake, "--", "-x").args, { name: "-x" });
});

Deno.test("parseCall gives a list in the last position all words that are left", () => {
  assert.deepEqual(parse(filePick, "red", "a", "b", "--", "-c").args, {
    kind: "red",
    path: ["a", "b", "-c"],
  });
});

Deno.test("parseCall reads the pipeline's options by class", () => {
  assert.deepEqual(parse(boxDelete, "web", "--confirm", "web", "--key=k1"), {
    args: { name: "web" },
    confirm: "web",
    key: "k1",
  });
  assert.deepEqual(parse(boxMake, "web", "--timeout", "90s", "--key", "k"), {
    args: { name: "web" },
    timeout_s: 90,
    key: "k",
  });
  assert.match(failureOf(boxMake, "web", "--confirm", "web").message, /Unknown flag "--confirm"/);
  assert.match(failureOf(boxList, "--key", "x").message, /Unknown flag "--key"/);
  assert.match(failureOf(boxDelete, "web", "--timeout", "1s").message, /Unknown flag "--timeout"/);
});

Deno.test("parseCall delivers any program after -- byte for byte", () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (argv) => {
    assert.deepEqual(parse(boxRun, "tiny", "--", ...argv).args, { box: "tiny", argv });
  }));
});

Deno.test("parseCall delivers any value tied to its flag", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => {
    assert.deepEqual(parse(boxDelete, `--name=${value}`).args, { name: value });
  }));
});

Deno.test("parseCall takes no flag of ours from the program's own arguments", () => {
  assert.deepEqual(parse(boxRun, "tiny", "--", "--timeout", "1s", "--", "--json").args.argv, [
    "--timeout",
    "1s",
    "--",
    "--json",
  ]);
});

for (
  const [tool, argv, message, hint] of [
    [
      boxMake,
      ["web", "--memroy", "2G"],
      'Unknown flag "--memroy" for "box make"',
      /^Did you mean "--memory"\? It takes --name, --memory, --size/,
    ],
    [boxMake, ["web", "-x"], 'Unknown flag "-x" for "box make"', /written --name=-x/],
    [boxMake, ["web", "--tight=no"], 'The flag "--tight" takes no value', /--tight or --no-tight/],
    [boxMake, ["web", "--no-mode"], 'Unknown flag "--no-mode" for "box make"', /--mode/],
    [boxMake, ["web", "--count", "three"], '--count is "three", but wanted is a whole number', undefined],
    [boxMake, ["web", "--count", "1.5"], '--count is "1.5", but wanted is a whole number', undefined],
    [boxMake, ["web", "--count", "99999999999999999999"], /whole number below 2\^53/, undefined],
    [boxMake, ["web", "--count", "-5"], 'The flag "--count" needs a value', /--count=-5/],
    [boxMake, ["web", "--mode", "hrad"], '--mode is "hrad", but wanted is one of soft, hard', /"hard"/],
    [boxMake, ["web", "--memory", "2Q"], 'Wrong value for --memory: Cannot read "2Q" as a size', /2G/],
    [boxMake, ["web", "--memory", "1K"], /not a whole number of MiB/, undefined],
    [boxMake, ["web", "--extra", "[1]"], '--extra is "[1]", but wanted is one JSON object', /--extra=/],
    [boxMake, ["web", "--count", "1", "--count", "2"], 'The flag "--count" is given twice', /once/],
    [boxMake, ["web", "--tight", "--no-tight"], 'The flag "--no-tight" is given twice', /once/],
    [boxMake, ["web", "two"], '"two" is one argument too many for "box make"', /Usage: hvlab box make NAME/],
    [boxMake, ["web", "--name", "x"], '"name" is given by --name and by position as "web"', /once/],
    [boxMake, ["--memory", "2G"], '"box make" needs NAME', /Usage: hvlab box make NAME/],
    [filePick, ["blue"], 'KIND is "blue", but wanted is one of red, green', undefined],
    [filePick, ["red", "a", "--path", "b"], '"path" is given by --path and by position as "a"', undefined],
    [
      boxRun,
      ["tiny", "ls"],
      '"ls" is one argument too many for "box run"',
      /after "--": hvlab box run BOX.* -- PROGRAM/,
    ],
    [boxRun, ["tiny"], '"box run" needs "-- PROGRAM..."', /-- PROGRAM/],
    [boxRun, ["tiny", "--argv", "a", "--", "b"], '"argv" is given by --argv and after "--"', undefined],
    [boxList, ["x"], '"x" is one argument too many for "box list"', /Usage: hvlab box list/],
  ] as const
) {
  Deno.test(`parseCall refuses ${tool.name} ${argv.join(" ")}`, () => {
    const error = failureOf(tool, ...argv);
    assert.equal(error.code, "hv.usage");
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    if (hint !== undefined) assert.match(error.hint ?? "", hint);
  });
}
