import assert from "node:assert/strict";

const LONE_ATTACH = new URL("../../support/lone_attach.ts", import.meta.url).href;
const SPEAKER = "console.error('Supported escape sequences:'); Deno.exit(3)";

Deno.test("what a program on our terminal says on stderr is seen there, and answered", async () => {
  const deno = Deno.execPath();
  const { stdout, stderr } = await new Deno.Command(deno, {
    args: ["run", "-A", "--no-check", "--quiet", LONE_ATTACH, deno, "eval", SPEAKER],
    stdin: "null",
  }).output();
  const words = "Supported escape sequences:";
  assert.equal(new TextDecoder().decode(stderr).trim(), words);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), { code: 3, signal: null, stderr: words });
});
