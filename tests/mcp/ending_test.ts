/** The host goes away, in every way that it can: the server goes too, soon, and its calls are recorded. */

import assert from "node:assert/strict";
import type { Operation } from "../../src/contract/operation.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { openStoreReadOnly } from "../../src/state/store.ts";
import { HANG_MS, McpProcess } from "../support/mcp_process.ts";
import { memoryServer, productServer, SLOWNESS } from "../support/mcp_programs.ts";
import { dataOf } from "../support/mcp_wire.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

/** Starts a sandbox and a program in it that runs until it is ended. */
async function beginLongCall(server: McpProcess, state: string): Promise<void> {
  await server.initialize();
  const create = { name: "hv_sandbox_create", arguments: { image: "tiny", name: "box" } };
  dataOf(await server.request("create", "tools/call", create));
  await server.send({
    jsonrpc: "2.0",
    id: "long",
    method: "tools/call",
    params: { name: "hv_guest_exec", arguments: { vm: "box", argv: ["sleep"] } },
  });
  await untilNewest(state, ({ tool, state }) => tool === "guest_exec" && state === "running");
}

async function untilNewest(state: string, fits: (operation: Operation) => boolean): Promise<void> {
  for (;;) {
    const newest = await newestOperation(state);
    if (newest !== undefined && fits(newest)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function newestOperation(state: string): Promise<Operation | undefined> {
  using store = await openStoreReadOnly(openDenoHost(), new StateFolder(state));
  const [newest] = await store?.operations.list({ limit: 1 }) ?? [];
  return newest;
}

async function assertGone(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still there after ${HANG_MS} ms`)), HANG_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A read that waits when its pipe is closed takes one more answer, so that a single one would not show that nobody is there. */
async function pingUntilEnded(server: McpProcess): Promise<void> {
  let isOver = false;
  server.ended.then(() => isOver = true);
  for (let id = 2; !isOver; id++) {
    await server.send({ jsonrpc: "2.0", id, method: "ping" }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function processLives(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state !== "" && !state.startsWith("Z");
}

async function waitUntilGone(pid: number): Promise<void> {
  while (await processLives(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
}

for (
  const [what, leave] of [
    ["stdin is closed", (server: McpProcess) => server.closeInput()],
    ["SIGTERM comes", (server: McpProcess) => server.kill("SIGTERM")],
    ["SIGINT, SIGTERM and SIGHUP come at once", (server: McpProcess) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) server.kill(signal);
    }],
  ] as const
) {
  Deno.test(`when ${what} during a long call, the call is recorded as cancelled and the server ends with 0`, () =>
    withTemporaryFolder(async (folder) => {
      await using server = new McpProcess(memoryServer(`${folder}/state`, SLOWNESS));
      await beginLongCall(server, `${folder}/state`);
      await leave(server);
      await assertGone(server.ended);
      assert.deepEqual(await server.ended, { code: 0, signal: null });
      const operation = await newestOperation(`${folder}/state`);
      assert.equal(operation?.tool, "guest_exec");
      assert.equal(operation?.state, "cancelled");
      assert.equal(operation?.error?.code, "hv.cancelled");
      assert.ok(!server.received.some(({ id }) => id === "long"), "a call that was cut off has no answer");
      assert.equal(await server.errors(), "");
    }));
}

Deno.test("an operation that went on after its answer is recorded as cancelled too", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(memoryServer(`${folder}/state`, SLOWNESS));
    await server.initialize();
    const call = (name: string, args: unknown) =>
      server.request(name, "tools/call", { name, arguments: args });
    dataOf(await call("hv_sandbox_create", { image: "tiny", name: "box" }));
    const args = { vm: "box", argv: ["sleep"] };
    const direct = dataOf(await call("hv_guest_exec", { ...args, wait_s: 0 }));
    const handedOn = dataOf(await call("hv_call", { tool: "hv_guest_exec", args, wait_s: 0 }));
    await server.closeInput();
    await assertGone(server.ended);
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    using store = await openStoreReadOnly(openDenoHost(), new StateFolder(`${folder}/state`));
    for (const { op } of [direct, handedOn]) {
      assert.equal((await store?.operations.get(String(op)))?.state, "cancelled");
    }
  }));

Deno.test("stdin that is empty from the start ends the server with 0, and nothing was made", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(await productServer(`${folder}/state`));
    await server.closeInput();
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    assert.equal(await server.errors(), "");
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("requests that are piped in with nothing after them are answered", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(memoryServer(`${folder}/state`, 20 * SLOWNESS));
    const params = { name: "hv_vm_list", arguments: {} };
    await server.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    await server.closeInput();
    assert.deepEqual(dataOf(await server.answer(1)), { vms: [] });
    assert.deepEqual(await server.ended, { code: 0, signal: null });
  }));

Deno.test("when nobody reads stdout any more, the next answer ends the server with 0", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(memoryServer(`${folder}/state`, SLOWNESS));
    await beginLongCall(server, `${folder}/state`);
    await server.closeOutput();
    await assertGone(pingUntilEnded(server));
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    assert.equal((await newestOperation(`${folder}/state`))?.state, "cancelled");
  }));

Deno.test("a host that reads nothing stops neither other calls nor the end", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(memoryServer(`${folder}/state`));
    await server.initialize();
    server.stopReading();
    for (let id = 1; id <= 400; id++) await server.send({ jsonrpc: "2.0", id, method: "tools/list" });
    // When it has done this, it has answered all those before, further than the pipe goes.
    const params = { name: "hv_vm_create", arguments: { name: "web", image: "tiny" } };
    await server.send({ jsonrpc: "2.0", id: 401, method: "tools/call", params });
    await untilNewest(`${folder}/state`, ({ state }) => state === "succeeded");
    server.kill("SIGTERM");
    await assertGone(server.ended);
    assert.deepEqual(await server.ended, { code: 3, signal: null });
  }));

/** A host that starts the server, gives its own stdin on to a grandchild, and is killed. */
const HOST = `
const [program, args] = JSON.parse(Deno.args[0]);
const server = new Deno.Command(program, { args, stdin: "inherit", stdout: "piped", stderr: "inherit" }).spawn();
const holder = new Deno.Command("sleep", { args: ["3600"], stdin: "inherit", stdout: "null", stderr: "null" }).spawn();
console.log(JSON.stringify({ server: server.pid, holder: holder.pid }));
for await (const _ of server.stdout);
`;

Deno.test("when the host is killed while a grandchild holds stdin open, the server ends", () =>
  withTemporaryFolder(async (folder) => {
    const { program, args, env } = memoryServer(`${folder}/state`);
    const script = `${folder}/host.ts`;
    await Deno.writeTextFile(script, HOST);
    await using host = new Deno.Command(program, {
      args: ["run", "-A", "--no-config", script, JSON.stringify([program, args])],
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const writer = host.stdin.getWriter();
    const reader = host.stdout.getReader();
    const { value } = await reader.read();
    const pids: { server: number; holder: number } = JSON.parse(new TextDecoder().decode(value));
    try {
      await writer.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
      assert.ok(await processLives(pids.server));
      host.kill("SIGKILL");
      await host.status;
      await assertGone(waitUntilGone(pids.server));
      assert.ok(await processLives(pids.holder), "the grandchild still holds stdin open");
    } finally {
      Deno.kill(pids.holder, "SIGKILL");
      await writer.close().catch(() => {});
      await reader.cancel();
    }
  }));

Deno.test("twenty servers that are started and killed leave nothing behind", () =>
  withTemporaryFolder(async (folder) => {
    const state = `${folder}/state`;
    for (let round = 0; round < 20; round++) {
      const server = new McpProcess(memoryServer(state));
      if (round % 2 === 0) await server.request(1, "tools/call", { name: "hv_vm_list", arguments: {} });
      server.kill("SIGKILL");
      await server.ended;
      await server[Symbol.asyncDispose]();
    }
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));
