import assert from "node:assert/strict";
import { loginFailure, sshArguments, type SshTarget } from "../../../src/guest/ssh/client.ts";
import { terminalLine } from "../../../src/guest/ssh/terminal_line.ts";

const target: SshTarget = {
  hostname: "127.0.0.1",
  port: 40022,
  user: "-oProxyCommand=evil",
  alias: "0123abcd",
  pinned: true,
  usesPassword: false,
};

Deno.test("a user or host is never read as an option", () => {
  const words = sshArguments(target);
  assert.equal(words[words.indexOf("-l") + 1], "-oProxyCommand=evil");
  assert.equal(words[words.indexOf("--") + 1], "127.0.0.1");
  assert.deepEqual(words.slice(0, 2), ["-F", "none"]);
});

Deno.test("host keys are pinned, and passwords and keys never mix", () => {
  const has = (changes: Partial<SshTarget>, word: string): boolean =>
    sshArguments({ ...target, ...changes }).includes(word);
  assert.ok(has({}, "StrictHostKeyChecking=yes"));
  assert.ok(has({ pinned: false }, "StrictHostKeyChecking=accept-new"));
  assert.ok(has({}, "BatchMode=yes") && has({}, "PreferredAuthentications=publickey"));
  assert.ok(
    has({ usesPassword: true }, "PubkeyAuthentication=no") && !has({ usesPassword: true }, "BatchMode=yes"),
  );
});

Deno.test("why nobody got in is told apart", () => {
  const who = { user: "root", usesPassword: false };
  const cases: [string, number, string][] = [
    ["root@127.0.0.1: Permission denied (publickey).", 255, "hv.guest_auth"],
    ["Received disconnect from 127.0.0.1: Too many authentication failures", 255, "hv.guest_auth"],
    ["Host key verification failed.", 255, "hv.guest_identity"],
    ["kex_exchange_identification: Connection closed by remote host", 255, "hv.guest_not_ready"],
    ["ssh: connect to host 127.0.0.1 port 1: Connection refused", 255, "hv.guest_not_ready"],
    ["", 255, "hv.guest_not_ready"],
    ["'exec' is not recognized as an internal or external command", 1, "hv.unsupported"],
  ];
  for (const [words, code, expected] of cases) {
    assert.equal(loginFailure(words, code, who).code, expected, words);
  }
});

Deno.test("a program for a terminal reaches /bin/sh through any login shell", async () => {
  const words = ["printf", "[%s]", "", "a'b", "$HOME", "é\n", "\\"];
  const line = terminalLine({ argv: words, cwd: "/", env: { A: "it's" } });
  assert.match(line, /^exec \/bin\/sh -c '[^'!]*' sh [A-Za-z0-9+/=]+$/);
  const { stdout } = await new Deno.Command("sh", { args: ["-c", line] }).output();
  assert.equal(new TextDecoder().decode(stdout), "[][a'b][$HOME][é\n][\\]");
});
