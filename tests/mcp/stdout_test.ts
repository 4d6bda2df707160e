/** Stdout carries the protocol and nothing else, whatever any part of the program prints. */

import assert from "node:assert/strict";

Deno.test("what the program and its libraries print goes to stderr, and forgotten failures do not end it", async () => {
  const program = new URL("../support/noisy_program.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", program],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assert.equal(decoder.decode(stdout), "protocol\n");
  assert.equal(code, 0);
  for (
    const word of [
      "log",
      "info",
      "debug",
      "a: 1",
      "b: 2",
      "c: 3",
      "group",
      "collapsed",
      "time",
      "forgotten",
      "thrown",
    ]
  ) {
    assert.ok(decoder.decode(stderr).includes(word), `stderr lacks "${word}"`);
  }
});
