/** Strict clients and hostile input: every line of ours is a message, bad input gets its error, the server lives. */

import assert from "node:assert/strict";
import { withTemporaryFolder } from "../support/temporary_folder.ts";
import { McpProcess } from "../support/mcp_process.ts";
import { memoryServer, SLOWNESS } from "../support/mcp_programs.ts";
import { dataOf, errorOf, failureOf, resultOf } from "../support/mcp_wire.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Runs one conversation with a fresh server that has to be alive at its end. */
function conversation(
  name: string,
  talk: (server: McpProcess) => Promise<void>,
  slowness = SLOWNESS,
): void {
  Deno.test(name, () =>
    withTemporaryFolder(async (folder) => {
      await using server = new McpProcess(memoryServer(`${folder}/state`, slowness));
      await talk(server);
      assert.deepEqual(resultOf(await server.request("last", "ping")), {});
      await server.closeInput();
      assert.deepEqual(await server.ended, { code: 0, signal: null });
    }));
}

const BROKEN_LINES = [
  { what: "not JSON", line: "{nope", id: undefined, code: -32700 },
  { what: "a banner", line: "Welcome!", id: undefined, code: -32700 },
  { what: "a batch", line: '[{"jsonrpc":"2.0","id":5,"method":"ping"}]', id: undefined, code: -32600 },
  { what: "a number", line: "5", id: undefined, code: -32600 },
  { what: "no version", line: '{"id":5,"method":"ping"}', id: 5, code: -32600 },
  { what: "id null", line: '{"jsonrpc":"2.0","id":null,"method":"ping"}', id: undefined, code: -32600 },
  { what: "id a fraction", line: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', id: undefined, code: -32600 },
  { what: "id an object", line: '{"jsonrpc":"2.0","id":{},"method":"ping"}', id: undefined, code: -32600 },
  {
    what: "params a list",
    line: '{"jsonrpc":"2.0","id":6,"method":"ping","params":[]}',
    id: 6,
    code: -32600,
  },
  { what: "method a number", line: '{"jsonrpc":"2.0","id":"a","method":7}', id: "a", code: -32600 },
  {
    what: "a name twice",
    line: '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"_meta":{"a":1,"a":2}}}',
    id: 8,
    code: -32600,
  },
] as const;

conversation("broken lines get an error with their id where it can be told", async (server) => {
  await server.initialize();
  for (const { what, line, id, code } of BROKEN_LINES) {
    const before = server.received.length;
    await server.sendText(`${line}\n`);
    const answer = await server.find((message) => server.received.indexOf(message) >= before, what);
    assert.equal(errorOf(answer).code, code, what);
    assert.equal(answer.id, id, what);
    assert.equal("id" in answer, id !== undefined, what);
  }
});

conversation("bytes that are not UTF-8 are refused", async (server) => {
  await server.sendText(Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a));
  assert.equal(errorOf(await server.find((message) => "error" in message, "the refusal")).code, -32700);
});

conversation("a line of 20 MB is refused, and the server lives", async (server) => {
  const chunk = "x".repeat(1024 * 1024);
  for (let sent = 0; sent < 20; sent++) await server.sendText(chunk);
  await server.sendText("\n");
  const refusal = await server.find((message) => "error" in message, "the refusal");
  assert.deepEqual(errorOf(refusal), { code: -32700, message: "The line is longer than 10 MiB" });
});

conversation("a byte order mark, CRLF, blank lines and U+2028 do no harm", async (server) => {
  await server.sendText(`\uFEFF${JSON.stringify(INITIALIZE)}\r\n\r\n\n  \n`);
  assert.equal(resultOf(await server.answer(0)).protocolVersion, "2025-11-25");
  const answer = await server.request(1, "tools/call", {
    name: "hv_vm_get",
    arguments: { vm: "a\u2028b\nc" },
  });
  assert.equal(failureOf(answer).message, 'There is no VM "a\u2028b\nc"');
});

conversation("a message may come in pieces, and several in one", async (server) => {
  const bytes = new TextEncoder().encode(
    `${JSON.stringify({ ...INITIALIZE, id: "é" })}\n${
      JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" })
    }\n`,
  );
  for (let at = 0; at < bytes.length; at += 7) await server.sendText(bytes.slice(at, at + 7));
  resultOf(await server.answer("é"));
  assert.deepEqual(resultOf(await server.answer(2)), {});
});

conversation(
  "unknown methods are told, unknown notifications and stray answers passed over",
  async (server) => {
    await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await server.send({ jsonrpc: "2.0", method: "notifications/nothing_known" });
    await server.send({ jsonrpc: "2.0", id: 77, result: {} });
    await server.send({ jsonrpc: "2.0", id: 78, result: 5 });
    await server.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "unknown" },
    });
    assert.equal(errorOf(await server.request(1, "no/such/method")).code, -32601);
    assert.equal(errorOf(await server.request(2, "resources/list")).code, -32601);
    assert.equal(server.received.length, 2);
  },
);

conversation(
  "calls before the handshake, with no arguments, and a second handshake are answered",
  async (server) => {
    assert.deepEqual(dataOf(await server.request(0, "tools/call", { name: "hv_vm_list" })), { vms: [] });
    await server.initialize();
    resultOf(await server.request(3, "initialize", INITIALIZE.params));
  },
);

conversation("wrong parameters are told in the way of the protocol or of the tool", async (server) => {
  await server.initialize();
  const call = (id: number, params: unknown) => server.request(id, "tools/call", params);
  assert.equal(errorOf(await call(1, { name: "hv_vm_list", arguments: null })).code, -32602);
  assert.equal(errorOf(await call(2, { name: "hv_vm_list", arguments: [] })).code, -32602);
  assert.equal(errorOf(await call(3, { name: 5 })).code, -32602);
  assert.equal(errorOf(await call(4, {})).code, -32602);
  assert.equal(errorOf(await server.request(5, "tools/list", { cursor: "2" })).code, -32602);
  const unknown = errorOf(await call(6, { name: "hv_vm_lst", arguments: {} }));
  assert.deepEqual(unknown, {
    code: -32602,
    message: 'There is no tool "hv_vm_lst". Did you mean "hv_vm_list"?',
  });
  assert.equal(failureOf(await call(7, { name: "hv_vm_get", arguments: { vm: 5 } })).code, "hv.usage");
  assert.equal(failureOf(await call(8, { name: "hv_vm_get", arguments: {} })).code, "hv.usage");
});

conversation("an id in use is refused, and free again afterwards", async (server) => {
  await server.initialize();
  const wait = { name: "hv_vm_wait", arguments: { vm: "none" } };
  const sandbox = dataOf(
    await server.request(1, "tools/call", {
      name: "hv_sandbox_create",
      arguments: { image: "tiny", name: "s" },
    }),
  );
  const exec = { name: "hv_guest_exec", arguments: { vm: sandbox.id, argv: ["sleep"], wait_s: 1 } };
  await server.send({ jsonrpc: "2.0", id: 9, method: "tools/call", params: exec });
  await server.send({ jsonrpc: "2.0", id: 9, method: "tools/call", params: wait });
  const refusal = errorOf(
    await server.find((message) => message.id === 9 && "error" in message, "the refusal"),
  );
  assert.deepEqual(refusal, { code: -32600, message: "A request with the id 9 still runs" });
  const answers = (): number => server.received.filter(({ id }) => id === 9).length;
  await server.find(() => answers() === 2, "the answer of the first");
  await server.send({ jsonrpc: "2.0", id: 9, method: "ping" });
  await server.find(() => answers() === 3, "the answer to the id used again");
}, 1);

conversation("a version of the protocol that is not known is answered with one that is", async (server) => {
  const params = { ...INITIALIZE.params, protocolVersion: "1999-01-01" };
  assert.equal(resultOf(await server.request(1, "initialize", params)).protocolVersion, "2025-11-25");
});
