/** The npm package as a user gets it: packed, installed into an empty folder, started through npx. */

import assert from "node:assert/strict";
import { buildBundle } from "../../tools/bundle.ts";
import { packForNpm } from "../../tools/pack.ts";
import { NPM, runOrThrow, runProgram } from "../../tools/programs.ts";

const NPX = Deno.build.os === "windows" ? "npx.cmd" : "npx";

/** Why npm cannot install the package's one dependency here; `undefined` when it can. */
const trouble = await findTrouble();

Deno.test({
  name: `the packed npm package installs and runs${trouble === undefined ? "" : ` (skipped: ${trouble})`}`,
  ignore: trouble !== undefined,
  async fn(t) {
    const folder = await Deno.makeTempDir({ prefix: "hvlab npm " });
    try {
      await buildBundle(`${folder}/bundle`);
      const packed = await packForNpm(`${folder}/bundle`, folder);
      const user = `${folder}/user`;
      await Deno.mkdir(user);
      await Deno.writeTextFile(`${user}/package.json`, "{}");
      await runOrThrow(NPM, ["install", "--prefer-offline", "--no-audit", "--no-fund", packed], {
        cwd: user,
      });
      const config: { version: string } = JSON.parse(
        await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
      );

      await t.step("npx hvlab --version prints the version", async () => {
        const { code, stdout, stderr } = await runProgram(NPX, ["hvlab", "--version"], { cwd: user });
        assert.equal(stderr, "");
        assert.ok(stdout.includes(config.version), stdout);
        assert.equal(code, 0);
      });

      await t.step("the launcher passes the exit code of a wrong command through", async () => {
        const { code } = await runProgram(NPX, ["hvlab", "no-such-noun"], { cwd: user });
        assert.equal(code, 2);
      });

      await t.step("a server started by the launcher ends with its input", async () => {
        const launcher = new Deno.Command("node", {
          args: [`${user}/node_modules/hvlab/bin/hvlab.js`, "mcp"],
          cwd: user,
          stdin: "piped",
          stdout: "null",
          stderr: "null",
        }).spawn();
        await launcher.stdin.close();
        const { code } = await launcher.status;
        assert.equal(code, 0);
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

async function findTrouble(): Promise<string | undefined> {
  try {
    const { code, stderr } = await runProgram(NPM, ["view", "--prefer-offline", "deno@2.9.6", "version"]);
    return code === 0 ? undefined : `npm cannot reach its registry: ${stderr.trim().split("\n")[0]}`;
  } catch {
    return "npm is not installed";
  }
}
