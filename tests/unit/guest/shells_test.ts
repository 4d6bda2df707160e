import assert from "node:assert/strict";
import { guessInterpreter, lineCommand, scriptForm } from "../../../src/guest/shells.ts";
import { failureOf } from "../../support/failures.ts";

Deno.test("a script's first line names its interpreter, then its ending, then the guest", () => {
  assert.equal(guessInterpreter("x.sh", "#!/usr/bin/env -S python3 -u\n", "posix"), "python");
  assert.equal(guessInterpreter("x", "#!/bin/bash\n", "posix"), "bash");
  assert.equal(guessInterpreter("x.PS1", "exit 1", "windows"), "powershell");
  assert.equal(guessInterpreter("x.ps1", "exit 1", "posix"), "pwsh");
  assert.equal(guessInterpreter("x.bat", "@echo off", "windows"), "cmd");
  assert.equal(guessInterpreter(undefined, "echo hi", "posix"), "sh");
  assert.equal(guessInterpreter(undefined, "Get-Date", "windows"), "powershell");
});

Deno.test("each guest has interpreters of its own, and says which", async () => {
  assert.deepEqual(scriptForm("sh", "posix").argv("/tmp/x"), ["/bin/sh", "/tmp/x"]);
  const windows = scriptForm("powershell", "windows");
  assert.deepEqual([windows.ending, windows.byteOrderMark, windows.argv("C:\\x.ps1").at(-1)], [
    ".ps1",
    true,
    "C:\\x.ps1",
  ]);
  assert.deepEqual(scriptForm("cmd", "windows").argv("C:\\x.cmd"), ["cmd.exe", "/d", "/c", "C:\\x.cmd"]);
  const refused = (name: "cmd" | "sh", family: "posix" | "windows"): Promise<unknown> =>
    Promise.resolve().then(() => scriptForm(name, family));
  assert.match((await failureOf("hv.unsupported", () => refused("cmd", "posix"))).hint ?? "", /sh, bash/);
  assert.match((await failureOf("hv.unsupported", () => refused("sh", "windows"))).hint ?? "", /powershell/);
});

Deno.test("a line for PowerShell comes encoded, so that nothing splits it", () => {
  const argv = lineCommand("pwsh", 'Write-Output "é $x"');
  const bytes = Uint8Array.fromBase64(argv.at(-1) ?? "");
  assert.equal(new TextDecoder("utf-16le").decode(bytes), 'Write-Output "é $x"');
  assert.deepEqual(lineCommand("sh", "a; b"), ["/bin/sh", "-c", "a; b"]);
});
