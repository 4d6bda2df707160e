/** Debugger commands: split, refused, written down, and found again in what the debugger printed. */

import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  checkReadingOnly,
  cutAtMarkers,
  markerOf,
  scriptOf,
  splitCommands,
} from "../../../../src/debugger/analyze/debugger_commands.ts";
import { readDebuggerText } from "../../../../src/debugger/analyze/debugger_text.ts";
import { HvError } from "../../../../src/base/errors.ts";

function refuses(code: string): (error: unknown) => boolean {
  return (error) => error instanceof HvError && error.code === code;
}

Deno.test("commands are split at semicolons outside quotes and braces", () => {
  assert.deepEqual(splitCommands(" lm; k ;;r rip; "), ["lm", "k", "r rip"]);
  assert.deepEqual(splitCommands('.printf "a;b"; .if (1) { k; r } .else { q }'), [
    '.printf "a;b"',
    ".if (1) { k; r } .else { q }",
  ]);
  for (const bad of ["", " ; ", "lm\nk", "k\u0000", "db é", "lm; q", "QD", `k${" ".repeat(1500)}1`]) {
    assert.throws(() => splitCommands(bad), refuses("hv.usage"), JSON.stringify(bad));
  }
});

Deno.test("what only reads is allowed, and whatever could do more is not", () => {
  const reading = [
    ...["lm", "lmv m nt", "lm m evil*", "k", "kb", "kn 20", "kP", "r", "r rip, rsp", "rM 3f", "r @rip"],
    ...[
      "db fffff800`10000000 L20",
      "dps @rsp",
      "dt nt!_EPROCESS fffff80010000000",
      "dv",
      "dds esp",
      "du poi(@rcx)",
    ],
    ...[
      "u evil!FrLeaf",
      "ub @rip L5",
      "uf nt!KeBugCheckEx",
      "x evil!*",
      "x /t nt!Ki*",
      "!analyze",
      "!analyze -v -f",
    ],
  ];
  checkReadingOnly(reading, []);
  const more = [
    ...[
      ".shell dir",
      "!process 0 0",
      ".reload",
      "dx Debugger.Utility.FileSystem",
      "$<c:\\x",
      "$$>a<c:\\x",
      "as /x a b",
    ],
    ...[
      "r rip=0",
      "r $.u0=.shell",
      "eb 0 0",
      "!analyze -xml c:\\x",
      "!analyze -c -load x",
      ".writemem c:\\x 0 L1",
    ],
    ...["k; .shell x", 'db "x"', "u ${a}", "lm{", "!lm", "dk", ".dump c:\\x", "kdx", "ua", "x@$", "d$x"],
  ];
  for (const command of more) {
    assert.throws(() => checkReadingOnly([command], []), refuses("hv.policy_denied"), command);
  }
  checkReadingOnly(["!process 0 0", ".reload /f"], ["!process", ".reload"]);
  const hidden = ['!process "0;.dump x"', "!process 0 {; .writemem c:\\x 0 L1", "!process {;.dump x}"];
  for (const command of ["!processx", ...hidden]) {
    assert.deepEqual(splitCommands(command), [command]);
    assert.throws(() => checkReadingOnly([command], ["!process"]), refuses("hv.policy_denied"), command);
  }
});

Deno.test("a script is cut into its commands again, wherever the text ends", () => {
  const commands = ["lm", "k"];
  assert.deepEqual(scriptOf(commands, "w").split("\r\n"), [
    ...[".noshell", ".lines -e", `.echo ${markerOf("w", 0)}`, "lm", `.echo ${markerOf("w", 1)}`, "k"],
    ...[`.echo ${markerOf("w", 2)}`, "q", ""],
  ]);
  const text = [
    ...[
      "Microsoft",
      "1: kd> .echo hvlab-w-0",
      "hvlab-w-0",
      "1: kd> lm",
      "nt",
      "hvlab-w-x",
      "1: kd> .echo hvlab-w-1",
    ],
    ...[
      "hvlab-w-1",
      "1: kd> k",
      "nt!KeBugCheckEx",
      "1: kd> .echo hvlab-w-2",
      "hvlab-w-2",
      "1: kd> q",
      "quit:",
    ],
  ].join("\r\n");
  const whole = cutAtMarkers(text, commands, "w");
  assert.deepEqual(whole.commands, [
    { command: "lm", text: "nt\nhvlab-w-x", complete: true },
    { command: "k", text: "nt!KeBugCheckEx", complete: true },
  ]);
  fc.assert(fc.property(fc.nat(text.length), (length) => {
    const cut = cutAtMarkers(text.slice(0, length), commands, "w").commands;
    for (const [index, command] of cut.entries()) {
      assert.equal(command.command, commands[index]);
      if (command.complete) assert.equal(command.text, whole.commands[index]?.text);
    }
  }));
});

Deno.test("text is read in the encoding that it is in, also where its middle is missing", () => {
  const wide = (text: string) =>
    new Uint8Array(Uint16Array.from(text, (letter) => letter.charCodeAt(0)).buffer);
  const nothing = new Uint8Array(0);
  assert.equal(readDebuggerText({ head: wide("\uFEFFé of k"), tail: nothing, dropped: 0 }).text, "é of k");
  assert.equal(
    readDebuggerText({ head: wide("plain wide text"), tail: nothing, dropped: 0 }).text,
    "plain wide text",
  );
  const whole = wide("0123456789 and the end");
  const split = readDebuggerText({ head: whole.slice(0, 7), tail: whole.slice(7), dropped: 0 });
  assert.equal(split.text, "0123456789 and the end");
  const cut = readDebuggerText({ head: whole.slice(0, 8), tail: whole.slice(21), dropped: 13 });
  assert.match(cut.text, /^0123\n\[\.\.\. 13 bytes are missing here \.\.\.\]\nand the end$/);
  assert.equal(
    readDebuggerText({ head: new TextEncoder().encode("é"), tail: nothing, dropped: 0 }).text,
    "é",
  );
});
