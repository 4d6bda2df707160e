import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { cutLastWords, withLastWords } from "../../../src/drivers/last_words.ts";

Deno.test("of a log its last 20 lines with text are left, at most 4 KiB", () => {
  const log = Array.from({ length: 50 }, (_, n) => `\u001B[31mline ${n}\u001B[0m\r\n\r\n`).join("");
  const lines = cutLastWords(log)?.split("\n") ?? [];
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [20, "line 30", "line 49"]);
  assert.equal(cutLastWords("x".repeat(9000))?.length, 4096);
  assert.equal(cutLastWords("\r\n \n"), undefined);
});

Deno.test("a hint says what to do and then quotes the end of the log; words known already win", () => {
  const error = new HvError("hv.guest_crashed", "It crashed", { hint: "old", context: { vm: "vm-x" } });
  const told = withLastWords(error, "one\ntwo\nthree\nfour\nfive", "Restart it");
  assert.equal(told.hint, "Restart it. Its serial log ends: two | three | four | five");
  assert.deepEqual(told.context, { vm: "vm-x", serial_tail: "one\ntwo\nthree\nfour\nfive" });
  assert.match(withLastWords(told, "other", "Look").hint ?? "", /^Look\. .*five$/);
  assert.equal(withLastWords(error, undefined, "Restart it").hint, "Restart it");
});

Deno.test("the reason of a panic is kept, however long the trace behind it", () => {
  const reason = "[    1.2] Kernel panic - not syncing: VFS: Unable to mount root fs";
  const trace = Array.from({ length: 40 }, (_, n) => `[    1.3]  frame_${n}+0x1/0x2`);
  const words = cutLastWords(["booting", reason, ...trace].join("\n"));
  const lines = words?.split("\n") ?? [];
  assert.deepEqual([lines[0], lines[1], lines[2], lines.length], [reason, "...", trace[20], 22]);
  const error = new HvError("hv.guest_crashed", "It crashed");
  assert.equal(withLastWords(error, words, "Restart it").hint, `Restart it. Its serial log says: ${reason}`);
  const near = cutLastWords([reason, "end"].join("\n"));
  assert.equal(near, `${reason}\nend`, "a reason among the last lines stands where it stood");
});
