/** The suites of others, held against the product: the inspector's command line and the protocol conformance suite. */

import assert from "node:assert/strict";
import { runProgram } from "../../tools/programs.ts";
import { findSuites, type Suites } from "../../tools/suites/suites.ts";
import { memoryServer, productServer, type ServerCommand } from "../support/mcp_programs.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const found = Deno.build.os === "windows"
  ? { why: "the suites are run on Linux and macOS" }
  : await findSuites();
if ("why" in found) console.log(`suites of others are skipped: ${found.why}`);

/** Registers a test that runs where the suites are installed. */
function suiteTest(name: string, run: (suites: Suites, folder: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: "why" in found,
    async fn() {
      assert.ok(!("why" in found));
      await withTemporaryFolder((folder) => run(found, folder));
    },
  });
}

/** A program without arguments that starts the server: the inspector would take our flags for its own. */
async function asScript({ program, args, env }: ServerCommand, folder: string): Promise<string> {
  const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
  const settings = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}\n`).join("");
  const path = `${folder}/server.sh`;
  await Deno.writeTextFile(path, `#!/bin/sh\n${settings}exec ${[program, ...args].map(quote).join(" ")}\n`);
  await Deno.chmod(path, 0o755);
  return path;
}

/** Runs the inspector on a server; gives what it printed. */
async function inspect({ node, inspector }: Suites, server: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(node, [inspector, "--cli", server, ...args]);
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

for (const era of ["legacy", "modern"]) {
  for (const flags of [[], ["--toolsets", "all"]]) {
    suiteTest(
      `the inspector finds every schema portable: ${era} ${flags.join(" ")}`,
      async (suites, folder) => {
        const server = await asScript(await productServer(`${folder}/state`, flags), folder);
        const out = await inspect(suites, server, [
          ...["--protocol-era", era, "--strict", "--method", "tools/list", "--format", "json"],
        ]);
        const { result, ...rest } = JSON.parse(out);
        assert.ok(result.tools.length >= 18);
        assert.deepEqual(rest, {}, "the inspector has remarks");
      },
    );
  }

  suiteTest(`the inspector calls a tool: ${era}`, async (suites, folder) => {
    const server = await asScript(memoryServer(`${folder}/state`), folder);
    const out = await inspect(suites, server, [
      ...["--protocol-era", era, "--method", "tools/call", "--format", "json"],
      ...["--tool-name", "hv_sandbox_create", "--tool-args-json", '{"image":"tiny","name":"box"}'],
    ]);
    assert.equal(JSON.parse(out).result.structuredContent.name, "box");
  });
}

for (const revision of ["2025-11-25", "2026-07-28"]) {
  suiteTest(`the conformance suite passes for ${revision}`, async ({ node, conformance }, folder) => {
    const fixture = new URL("./fixture_server.ts", import.meta.url).pathname;
    await using server = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--unstable-no-legacy-abort", "-A", fixture],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = server.stdout.getReader();
    try {
      const { value } = await reader.read();
      const url = new TextDecoder().decode(value).trim();
      const baseline = new URL(`./conformance/${revision}.yaml`, import.meta.url).pathname;
      const { code, stdout, stderr } = await runProgram(node, [
        ...[conformance, "server", "--url", url, "--requirements", revision],
        ...["--expected-failures", baseline, "--output-dir", folder],
      ]);
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, /Total: \d+ passed/);
    } finally {
      server.kill("SIGKILL");
      await reader.cancel();
    }
  });
}

suiteTest(
  "the client of the SDK's first major line lists and calls",
  async ({ node, conformance }, folder) => {
    const sdk = `${conformance.slice(0, conformance.indexOf("/conformance/"))}/sdk`;
    const script = new URL("./first_major_client.mjs", import.meta.url).pathname;
    const server = await asScript(memoryServer(`${folder}/state`), folder);
    const { code, stdout, stderr } = await runProgram(node, [script, sdk, server]);
    assert.equal(code, 0, stderr);
    const seen = JSON.parse(stdout);
    assert.ok(seen.tools >= 18);
    assert.deepEqual({ ...seen, tools: 0 }, { tools: 0, data: { vms: [] }, failed: true, code: -32602 });
  },
);
