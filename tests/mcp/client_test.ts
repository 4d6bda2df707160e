/** The SDK's own client against the server as a process, in both revisions. */

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { isPlainObject } from "../../src/base/json.ts";
import { outputJsonSchema } from "../../src/tools/json_schema.ts";
import { catalogue } from "../../src/tools/table.ts";
import { memoryServer, type ServerCommand } from "../support/mcp_programs.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const MODES = [
  { name: "legacy", mode: "legacy" },
  { name: "pinned to 2026-07-28", mode: { pin: "2026-07-28" } },
  { name: "auto", mode: "auto" },
] as const;

type Mode = typeof MODES[number]["mode"];

/** Registers a test; the client leaves timers of its own running when it closes, which is none of our leaks. */
function clientTest(name: string, mode: Mode, talk: (client: Client) => Promise<void>): void {
  const fn = (): Promise<void> =>
    withTemporaryFolder((folder) => withClient(memoryServer(`${folder}/state`), mode, talk));
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}

async function withClient(
  command: ServerCommand,
  mode: Mode,
  talk: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const { program, args, env } = command;
  const passedOn = Object.fromEntries(
    ["PATH", "HOME"].map((name) => [name, Deno.env.get(name) ?? ""]),
  );
  await client.connect(
    new StdioClientTransport({ command: program, args, env: { ...passedOn, ...env }, stderr: "inherit" }),
  );
  try {
    await talk(client);
  } finally {
    await client.close();
  }
}

for (const { name, mode } of MODES) {
  clientTest(`the SDK's client lists and calls: ${name}`, mode, async (client) => {
    assert.equal(client.getServerVersion()?.name, "hvlab");
    assert.match(client.getInstructions() ?? "", /hv_plan/);
    assert.ok((client.getInstructions() ?? "").length < 2_000);
    const { tools, nextCursor } = await client.listTools();
    assert.deepEqual(
      tools.map((tool) => tool.name),
      [...catalogue.defaultProfile].map((n) => `hv_${n}`).sort(),
    );
    assert.equal(nextCursor, undefined);
    const answer = await client.callTool({ name: "hv_vm_list", arguments: {} });
    assert.deepEqual(answer.structuredContent, { vms: [] });
    await assert.rejects(client.callTool({ name: "hv_nothing_like_it" }), /-32602|no tool/);
  });
}

/** One call of each tool that the driver in memory can answer, in an order in which each makes sense. */
const CALLS: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["vm_create", { name: "web", image: "tiny" }],
  ["vm_start", { vm: "web" }],
  ["vm_get", { vm: "web" }],
  ["vm_list", {}],
  ["vm_wait", { vm: "web", until: "running" }],
  ["vm_orphans", {}],
  ["vm_stop", { vm: "web", mode: "off" }],
  ["sandbox_create", { image: "tiny", name: "box" }],
  ["sandbox_list", {}],
  ["guest_exec", { vm: "box", argv: ["sh", "-c", "echo out; echo err >&2; exit 7"] }],
  ["sandbox_run", { image: "tiny", argv: ["echo", "hello"] }],
  ["plan", { tool: "hv_vm_delete", args: { vm: "web" } }],
  ["sandbox_destroy", { vm: "box" }],
  ["image_list", {}],
  ["image_import", { name: "other", disk: "/nowhere" }],
  ["host_info", {}],
  ["host_capacity", {}],
  ["capabilities", {}],
  ["tools_search", { query: "sandbox" }],
  ["op_list", {}],
  ["audit_tail", {}],
  ["doctor", {}],
];

clientTest("every result is of the form that its tool states", "legacy", async (client) => {
  const validator = new AjvJsonSchemaValidator();
  for (const [name, args] of CALLS) {
    const tool = await catalogue.load(name);
    const { structuredContent, content, isError } = await client.callTool({
      name: `hv_${name}`,
      arguments: args,
    });
    assert.notEqual(isError, true, `${name}: ${JSON.stringify(structuredContent)}`);
    assert.deepEqual(content, [{ type: "text", text: JSON.stringify(structuredContent) }]);
    const { valid, errorMessage } = validator.getValidator(outputJsonSchema(tool))(structuredContent);
    assert.ok(valid, `${name}: ${errorMessage}`);
  }
});

clientTest(
  "progress reaches the client, and its cancellation the guest",
  { pin: "2026-07-28" },
  async (client) => {
    await client.callTool({ name: "hv_sandbox_create", arguments: { image: "tiny", name: "box" } });
    const cancel = new AbortController();
    const steps: number[] = [];
    const call = client.callTool(
      { name: "hv_guest_exec", arguments: { vm: "box", argv: ["sleep"] } },
      {
        signal: cancel.signal,
        onprogress: ({ progress }) => {
          steps.push(progress);
          cancel.abort("enough");
        },
      },
    );
    await assert.rejects(call);
    assert.deepEqual(steps, [1]);
    for (;;) {
      const { structuredContent } = await client.callTool({
        name: "hv_read",
        arguments: { tool: "hv_op_list" },
      });
      assert.ok(isPlainObject(structuredContent) && Array.isArray(structuredContent.operations));
      const [{ tool, state }] = structuredContent.operations;
      assert.equal(tool, "guest_exec");
      if (state !== "running") {
        assert.equal(state, "cancelled");
        break;
      }
    }
  },
);
