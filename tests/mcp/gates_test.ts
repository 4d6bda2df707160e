/** What stands before a call: plan tokens, misspelt arguments, the read-only switch, tools that are not listed. */

import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { type Era, ERAS, type InProcessOptions, InProcessServer } from "../support/mcp_in_process.ts";
import { dataOf, errorOf, failureOf, type WireMessage } from "../support/mcp_wire.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

function inBothEras(
  name: string,
  talk: (server: InProcessServer) => Promise<void>,
  options: InProcessOptions = {},
): void {
  const run = (era: Era): Promise<void> =>
    withTemporaryFolder(async (folder) => {
      await using server = await InProcessServer.start(folder, { ...options, era });
      await talk(server);
    });
  for (const era of ERAS) Deno.test(`${era}: ${name}`, () => run(era));
}

/** A lasting VM "web" that runs. */
async function makeRunning(server: InProcessServer): Promise<void> {
  dataOf(await server.call("hv_vm_create", { name: "web", image: "tiny" }));
  dataOf(await server.call("hv_vm_start", { vm: "web" }));
}

const EXEC = { vm: "web", argv: ["echo", "hello"] };
const remove = (server: InProcessServer, options: Record<string, unknown>): Promise<WireMessage> =>
  server.call("hv_call", { tool: "hv_vm_delete", args: { vm: "web" }, ...options });

inBothEras("a program in a lasting VM needs a token, which the hint says how to get", async (server) => {
  await makeRunning(server);
  const refusal = failureOf(await server.call("hv_guest_exec", EXEC));
  assert.equal(refusal.code, "hv.plan_required");
  assert.match(String(refusal.hint), /hv_plan \{"tool":"hv_guest_exec","args":\{"vm":"web"/);
  const { confirm } = dataOf(await server.call("hv_plan", { tool: "hv_guest_exec", args: EXEC }));
  const done = dataOf(await server.call("hv_guest_exec", { ...EXEC, confirm }));
  assert.equal(done.stdout, "hello\n");
});

inBothEras("a token is taken as text and as object, once, and for nothing but its call", async (server) => {
  await makeRunning(server);
  const plan = async (): Promise<Record<string, unknown>> =>
    dataOf(await server.call("hv_plan", { tool: "hv_guest_exec", args: EXEC }));
  const { plan_id, digest } = await plan();
  const changed = { ...EXEC, argv: ["echo", "other"] };
  const differs = failureOf(await server.call("hv_guest_exec", { ...changed, confirm: { plan_id, digest } }));
  assert.equal(differs.code, "hv.plan_invalid");
  assert.match(String(differs.message), /argument "argv"/);
  dataOf(await server.call("hv_guest_exec", { ...EXEC, confirm: { plan_id, digest } }));
  const spent = failureOf(await server.call("hv_guest_exec", { ...EXEC, confirm: `${plan_id}:${digest}` }));
  assert.equal(spent.code, "hv.plan_invalid");
  for (const confirm of [5, true, {}, { plan_id }, null, []]) {
    assert.equal(failureOf(await server.call("hv_guest_exec", { ...EXEC, confirm })).code, "hv.usage");
  }
});

inBothEras("hv_call deletes with a token only, never by name", async (server) => {
  await makeRunning(server);
  assert.equal(failureOf(await remove(server, {})).code, "hv.plan_required");
  assert.equal(failureOf(await remove(server, { confirm: "web" })).code, "hv.plan_invalid");
  assert.equal(server.driver.machines.size, 1);
  const { confirm } = dataOf(await server.call("hv_plan", { tool: "vm_delete", args: { vm: "web" } }));
  assert.equal(dataOf(await remove(server, { confirm })).removed, true);
  assert.equal(server.driver.machines.size, 0);
});

inBothEras("a token inside the handed-on arguments is refused and told where it belongs", async (server) => {
  await makeRunning(server);
  const inside = { tool: "hv_vm_delete", args: { vm: "web", confirm: "x" } };
  const refusal = failureOf(await server.call("hv_call", inside));
  assert.equal(refusal.code, "hv.usage");
  assert.match(String(refusal.hint), /beside tool and args/);
});

inBothEras("misspelt arguments are refused with the word that was meant", async (server) => {
  await makeRunning(server);
  const cases = [
    ["hv_guest_exec", { ...EXEC, Confirm: "x" }, "confirm"],
    ["hv_guest_exec", { ...EXEC, waits: 1 }, "wait_s"],
    ["hv_vm_wait", { vm: "web", Wait_S: 1 }, "wait_s"],
    ["hv_guest_copy_from", { vm: "web", source: "/a", destination: "/b", overWrite: true }, "overwrite"],
    ["hv_vm_create", { name: "x", image: "tiny", memory: 64 }, "memory_mb"],
    ["hv_call", { tool: "hv_op_cancel", arg: {} }, "args"],
  ] as const;
  for (const [tool, args, meant] of cases) {
    const refusal = failureOf(await server.call(tool, args));
    assert.equal(refusal.code, "hv.usage", tool);
    assert.match(String(refusal.message), new RegExp(`did you mean "${meant}"`), tool);
  }
  const inside = failureOf(await server.call("hv_read", { tool: "hv_vm_get", args: { VM: "web" } }));
  assert.match(String(inside.message), /unknown argument "VM", did you mean "vm"/);
  const needless = failureOf(await server.call("hv_vm_list", { confirm: "x" }));
  assert.match(String(needless.message), /unknown argument "confirm"/);
  assert.equal(failureOf(await server.call("hv_vm_wait", { vm: "web", wait_s: 51 })).code, "hv.usage");
  assert.equal(failureOf(await server.call("hv_vm_wait", { vm: "web", wait_s: "5" })).code, "hv.usage");
});

inBothEras("hv_read and hv_call reach unlisted tools, each its own kind", async (server) => {
  await makeRunning(server);
  const got = dataOf(await server.call("hv_read", { tool: "hv_vm_get", args: { vm: "web" } }));
  assert.equal(got.name, "web");
  assert.equal(failureOf(await server.call("hv_read", { tool: "hv_vm_create", args: {} })).code, "hv.usage");
  assert.equal(failureOf(await server.call("hv_call", { tool: "hv_vm_list" })).code, "hv.usage");
  assert.equal(failureOf(await server.call("hv_call", { tool: "hv_call" })).code, "hv.usage");
  assert.equal(failureOf(await server.call("hv_read", { tool: "hv_nothing" })).code, "hv.not_found");
  const { tools } = dataOf(await server.call("hv_tools_search", { tool: "hv_vm_delete" }));
  assert.ok(Array.isArray(tools) && tools.length === 1);
});

inBothEras("sandboxes need no token", async (server) => {
  dataOf(await server.call("hv_sandbox_create", { image: "tiny", name: "box" }));
  const done = dataOf(await server.call("hv_guest_exec", { vm: "box", argv: ["echo", "hello"] }));
  assert.equal(done.exit_code, 0);
  assert.equal(dataOf(await server.call("hv_sandbox_destroy", { vm: "box" })).removed, true);
});

inBothEras("a read-only server refuses every change, called however", async (server) => {
  const list = await server.request("tools/list");
  assert.doesNotMatch(JSON.stringify(list), /hv_call|hv_vm_create/);
  const create = { name: "web", image: "tiny" };
  assert.equal(failureOf(await server.call("hv_vm_create", create)).code, "hv.policy_denied");
  const through = { tool: "hv_vm_create", args: create };
  assert.equal(failureOf(await server.call("hv_call", through)).code, "hv.policy_denied");
  assert.equal(server.driver.machines.size, 0);
  dataOf(await server.call("hv_vm_list"));
}, { readOnly: true });

inBothEras(
  "a policy's VMs run programs without a token, and its denied tools stay denied",
  async (server) => {
    await makeRunning(server);
    assert.equal(dataOf(await server.call("hv_guest_exec", EXEC)).exit_code, 0);
    const denied = await server.call("hv_read", { tool: "hv_op_list" });
    assert.equal(failureOf(denied).code, "hv.policy_denied");
  },
  {
    config: {
      ...DEFAULT_CONFIG,
      policy: {
        ...DEFAULT_CONFIG.policy,
        exec_without_plan: ["web"],
        deny: { classes: [], tools: ["op_list"] },
      },
    },
  },
);

inBothEras("files of the host are written only where the policy allows", async (server) => {
  await makeRunning(server);
  const copy = { vm: "web", source: "/etc/x", destination: "/tmp/hvlab-never-written" };
  assert.equal(failureOf(await server.call("hv_guest_copy_from", copy)).code, "hv.policy_denied");
});

inBothEras("arguments reach the guest byte for byte", async (server) => {
  dataOf(await server.call("hv_sandbox_create", { image: "tiny", name: "box" }));
  const words = [
    ...["", " ", "a b", "'", '"', "\\", '\\"', "a\\", "\n", "\t", "$HOME", "%PATH%", "&&", "--flag", "*"],
    ...["é", "\u{1F600}", "x".repeat(10_000)],
  ];
  const done = dataOf(await server.call("hv_guest_exec", { vm: "box", argv: ["printf", "fmt", ...words] }));
  assert.equal(done.stdout, words.map((word) => `[${word}]`).join(""));
});

inBothEras(
  "output beyond the limit keeps head, tail and counts, and the whole lies in a file",
  async (server) => {
    dataOf(await server.call("hv_sandbox_create", { image: "tiny", name: "box" }));
    const word = "0123456789".repeat(9_700);
    const done = dataOf(await server.call("hv_guest_exec", { vm: "box", argv: ["echo", word] }));
    assert.ok(JSON.stringify(done).length <= 40_000);
    assert.equal(done.stdout_bytes, 97_001);
    assert.equal(done.truncated, true);
    const whole = JSON.parse(await Deno.readTextFile(String(done.file)));
    assert.equal(whole.stdout, `${word}\n`);
  },
);

inBothEras("an unknown tool is an error of the protocol", async (server) => {
  assert.equal(errorOf(await server.call("hv_nothing_like_it")).code, -32602);
});

inBothEras("a name without end is answered in few words", async (server) => {
  const answer = await server.call(`hv_${"x".repeat(1_000_000)}`);
  assert.equal(errorOf(answer).code, -32602);
  assert.ok(JSON.stringify(answer).length < 5_000);
});

inBothEras("where class X is forbidden, hv_call still reaches what changes without it", async (server) => {
  dataOf(await server.call("hv_vm_create", { name: "web", image: "tiny" }));
  const rename = { tool: "hv_vm_rename", args: { vm: "web", name: "other" } };
  assert.equal(dataOf(await server.call("hv_call", rename)).name, "other");
  const type = { tool: "hv_console_type", args: { vm: "other", text: "x" } };
  const refusal = failureOf(await server.call("hv_call", type));
  assert.equal(refusal.code, "hv.policy_denied");
  assert.match(String(refusal.message), /"console_type" \(class X\)/);
}, {
  config: {
    ...DEFAULT_CONFIG,
    policy: { ...DEFAULT_CONFIG.policy, deny: { classes: ["X"], tools: [] } },
  },
});

inBothEras("a call of the wrong way is told the tool of the right one", async (server) => {
  const refusal = failureOf(await server.call("hv_call", { tool: "hv_vm_list", args: {} }));
  assert.equal(refusal.hint, "Call it with `hv_read`");
});
