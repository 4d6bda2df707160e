import assert from "node:assert/strict";
import {
  type CommandLineOptions,
  type CommandLineOutcome,
  runCommandLine,
  whenWatched,
} from "../../support/command_line.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function runBox(argv: readonly string[], options: CommandLineOptions = {}): Promise<CommandLineOutcome> {
  return withTemporaryFolder((folder) =>
    runCommandLine(["box", "run", "tiny", ...argv], { folder, ...options })
  );
}

for (
  const [argv, code] of [
    [["--", "exit", "0"], 0],
    [["--", "exit", "7"], 7],
    [["--", "exit", "256"], 1],
    [["--", "kill", "9"], 1],
    [["--", "fail", "hv.guest_crashed"], 126],
    [["--", "fail", "hv.guest_not_ready"], 125],
    [["--timeout", "10ms", "--", "hang"], 124],
    [["--bisect", "--", "exit", "7"], 1],
    [["--bisect", "--", "fail", "hv.guest_not_ready"], 125],
    [["--bisect", "--", "fail", "hv.guest_crashed"], 1],
  ] as const
) {
  Deno.test(`box run ${argv.join(" ")} gives ${code}`, async () => {
    assert.equal((await runBox(argv)).code, code);
  });
}

Deno.test("a program's bytes pass through to a pipe as they are, and nothing else is on stdout", async () => {
  const { stdoutBytes } = await runBox(["--", "print", "\x1b[31m\r\n\x00é"]);
  assert.deepEqual(stdoutBytes, new TextEncoder().encode("\x1b[31m\r\n\x00é"));
});

Deno.test("a program's control characters are shown on a terminal", async () => {
  const { out } = await runBox(["--", "print", "\x1b[31m\t\n"], { terminals: ["stdout"] });
  assert.equal(out, "\\x1b[31m\t\n");
});

Deno.test("under --json the program's output stands in the one object", async () => {
  const { code, out } = await runBox(["--json", "--", "print", "hello"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out), { exit_code: 0, stdout: "hello", stderr: "" });
});

Deno.test("an interrupt cancels the program", async () => {
  const { code, err } = await runBox(["--", "hang"], {
    during: whenWatched((terminal) => terminal.interrupt()),
  });
  assert.equal(code, 125);
  assert.match(err, /cancelled by SIGINT \(hv\.cancelled\)/);
});

Deno.test("a reader that goes away cancels the program quietly", async () => {
  const { code, err } = await runBox(["--", "print", "hello"], { readerLeavesAfter: 2 });
  assert.deepEqual([code, err], [125, ""]);
});

Deno.test("the same key writes the first call's output again and runs nothing", async () => {
  await withTemporaryFolder(async (folder) => {
    const line = ["box", "run", "tiny", "--key", "k1", "--", "print", "hello"];
    const first = await runCommandLine(line, { folder });
    const second = await runCommandLine(line, { folder });
    assert.deepEqual([first.code, first.out], [0, "hello"]);
    assert.deepEqual([second.code, second.out], [0, "hello"]);
  });
});
