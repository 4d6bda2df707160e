/** Gates of the tools that change something over dumps: what each door, and the policy, let through. */

import assert from "node:assert/strict";
import { type Config, DEFAULT_CONFIG, type Policy } from "../../../src/config/config.ts";
import type { DoorName } from "../../../src/tools/tool.ts";
import { dumpMachine } from "../../support/machine_dump.ts";
import { writeMachine } from "../../support/machine_writer.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { Lab } from "../../contract/lab.ts";

async function open(door: DoorName, policy: Partial<Policy> = {}): Promise<{ lab: Lab; path: string }> {
  const programs = new Map([["cdb", "/nowhere/cdb"]]);
  const config: Config = { ...DEFAULT_CONFIG, programs, policy: { ...DEFAULT_CONFIG.policy, ...policy } };
  const driver = new MemoryDriver();
  const lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny", door, config });
  const path = `${lab.root}/x.dmp`;
  await Deno.writeFile(path, dumpMachine(writeMachine("x64"), "full"));
  return { lab, path };
}

Deno.test("debugger commands that do more than read need the policy's word over MCP, and none from a person", async () => {
  const asked = async (
    door: DoorName,
    command: string,
    debugger_commands: string[] = [],
  ): Promise<string> => {
    const { lab, path } = await open(door, { debugger_commands });
    await using _ = lab;
    return (await lab.failure("dump_analyze", { path, command })).code;
  };
  assert.equal(await asked("mcp", "lm; .reload"), "hv.policy_denied");
  assert.equal(
    await asked("mcp", "lm; k; r; db rsp; u rip; x nt!*; !analyze -v"),
    "hv.unavailable",
    "cdb is looked for",
  );
  assert.equal(await asked("mcp", "!process 0 0", ["!process"]), "hv.unavailable");
  assert.equal(await asked("cli", "lm; .reload"), "hv.unavailable");
  assert.equal(await asked("cli", "lm\nk"), "hv.usage");
});

Deno.test("reading a dump reads, and reading it with downloads changes something", async () => {
  const { lab, path } = await open("cli", { mode: "read-only" });
  await using _ = lab;
  assert.equal((await lab.call("dump_triage", { path })).dump_kind, "full");
  const symbols = "srv*http://127.0.0.1:1";
  assert.equal(
    (await lab.failure("dump_triage", { path, symbols, download: true })).code,
    "hv.policy_denied",
  );
  assert.equal(
    (await lab.failure("dump_symbols", { path, symbols, download: true })).code,
    "hv.policy_denied",
  );
  assert.equal((await lab.failure("dump_analyze", { path })).code, "hv.policy_denied");
  const { lab: remote, path: other } = await open("mcp");
  await using __ = remote;
  const denied = await remote.failure("dump_triage", { path: other, symbols, download: true });
  assert.equal(denied.code, "hv.policy_denied", "over MCP only the policy's own addresses are asked");
});

Deno.test("dumps are fetched over MCP with a plan only, and only into allowed folders", async () => {
  const { lab } = await open("mcp");
  await using _ = lab;
  await lab.call("vm_create", { name: "web", image: "tiny" });
  const output = `${lab.root}/dumps`;
  assert.equal((await lab.failure("dump_collect", { vm: "web", output })).code, "hv.policy_denied");
  const allowed = await open("mcp", { folders: [lab.root] });
  await using __ = allowed.lab;
  await allowed.lab.call("vm_create", { name: "web", image: "tiny" });
  assert.equal((await allowed.lab.failure("dump_collect", { vm: "web", output })).code, "hv.plan_required");
});

Deno.test("a guest that cannot list its dumps is no guest without dumps", async () => {
  const { lab } = await open("cli");
  await using _ = lab;
  await lab.call("vm_create", { name: "web", image: "tiny" });
  const output = `${lab.root}/dumps`;
  assert.equal((await lab.failure("dump_collect", { vm: "web", output })).code, "hv.conflict", "it is off");
  await lab.call("vm_start", { vm: "web" });
  const failure = await lab.failure("dump_collect", { vm: "web", output, memory: false });
  assert.equal(failure.code, "hv.job_failed");
});
