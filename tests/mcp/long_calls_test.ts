/** Calls that take long: progress, early answers, cancellation, and a second try that runs nothing twice. */

import assert from "node:assert/strict";
import { isPlainObject } from "../../src/base/json.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { openStoreReadOnly } from "../../src/state/store.ts";
import { type Era, ERAS, InProcessServer } from "../support/mcp_in_process.ts";
import { dataOf, failureOf, type WireMessage } from "../support/mcp_wire.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

interface Talk {
  server: InProcessServer;
  folder: string;
}

/** Runs one test in both revisions, with a sandbox "box" whose program `sleep` ends only when it is ended. */
function inBothEras(name: string, talk: (context: Talk) => Promise<void>): void {
  const run = (era: Era): Promise<void> =>
    withTemporaryFolder(async (folder) => {
      await using server = await InProcessServer.start(folder, { era });
      dataOf(await server.call("hv_sandbox_create", { image: "tiny", name: "box" }));
      await talk({ server, folder });
    });
  for (const era of ERAS) Deno.test(`${era}: ${name}`, () => run(era));
}

const SLEEP = { name: "hv_guest_exec", arguments: { vm: "box", argv: ["sleep"] } };

/** The progress of one token, in order, and when each step came. */
function progressOf(server: InProcessServer, token: string): { at: number; progress: number }[] {
  return server.received.flatMap(({ at, message: { method, params } }) => {
    if (method !== "notifications/progress" || !isPlainObject(params) || params.progressToken !== token) {
      return [];
    }
    assert.ok(typeof params.progress === "number" && typeof params.message === "string");
    return [{ at, progress: params.progress }];
  });
}

async function stateOf(folder: string, op: unknown): Promise<string | undefined> {
  using store = await openStoreReadOnly(openDenoHost(), new StateFolder(`${folder}/state`));
  return (await store?.operations.get(String(op)))?.state;
}

async function newest(folder: string): Promise<{ op: string; state: string; tool: string } | undefined> {
  using store = await openStoreReadOnly(openDenoHost(), new StateFolder(`${folder}/state`));
  return (await store?.operations.list({ limit: 1 }))?.[0];
}

/** Waits until the newest operation is a running `guest_exec`, that is, until the guest program runs. */
async function untilRunning({ server, folder }: Talk): Promise<string> {
  let op = "";
  await server.until(async () => {
    const operation = await newest(folder);
    op = operation?.op ?? "";
    return operation?.tool === "guest_exec" && operation.state === "running";
  }, "the running operation");
  return op;
}

/** Waits that many seconds of the server's clock. */
async function pass(server: InProcessServer, seconds: number): Promise<void> {
  await server.clock.sleep(seconds * 1000);
}

inBothEras("with a token, progress rises every few seconds until the answer at 45 s", async ({ server }) => {
  const started = server.clock.passed;
  const id = server.begin("tools/call", SLEEP, { progressToken: "p" });
  const { op, state, next } = dataOf(await server.answer(id));
  const answered = server.clock.passed - started;
  assert.ok(answered >= 45_000 && answered < 50_000, `answered after ${answered} ms`);
  assert.equal(state, "running");
  assert.equal(next, `Call hv_op_wait with op "${op}"`);
  const steps = progressOf(server, "p");
  const times = [started, ...steps.map(({ at }) => at), server.clock.passed];
  for (const [index, at] of times.slice(1).entries()) {
    assert.ok(at - (times[index] ?? 0) <= 5_500, `a silence of ${at - (times[index] ?? 0)} ms`);
  }
  assert.deepEqual(steps.map(({ progress }) => progress), steps.map((_, index) => index + 1));
  await pass(server, 20);
  assert.equal(progressOf(server, "p").length, steps.length, "nothing follows the answer");
});

inBothEras("without a token nothing is sent before the answer", async ({ server }) => {
  const before = server.received.length;
  const { state } = dataOf(await server.call(SLEEP.name, SLEEP.arguments));
  assert.equal(state, "running");
  assert.equal(server.received.length, before + 1);
});

inBothEras("wait_s decides how long a call holds, and hv_op_wait goes on", async ({ server, folder }) => {
  const started = server.clock.passed;
  const { op } = dataOf(await server.call(SLEEP.name, { ...SLEEP.arguments, wait_s: 3 }));
  assert.ok(server.clock.passed - started < 10_000);
  const waited = dataOf(await server.call("hv_op_wait", { op, wait_s: 2 }));
  assert.equal(waited.state, "running");
  const cancelled = dataOf(await server.call("hv_call", { tool: "hv_op_cancel", args: { op } }));
  assert.equal(cancelled.op, op);
  const ended = dataOf(await server.call("hv_op_wait", { op }));
  assert.equal(ended.state, "cancelled");
  assert.equal(await stateOf(folder, op), "cancelled");
});

inBothEras("a wait for a VM answers with what was seen", async ({ server }) => {
  const started = server.clock.passed;
  const { reached, vm } = dataOf(await server.call("hv_vm_wait", { vm: "box", until: "off", wait_s: 5 }));
  assert.equal(reached, false);
  assert.ok(isPlainObject(vm) && vm.state === "running");
  assert.ok(server.clock.passed - started >= 5_000);
});

for (const seconds of [1, 40]) {
  inBothEras(`a call cancelled after ${seconds} s ends its work and is never answered`, async (talk) => {
    const { server, folder } = talk;
    const due = server.clock.passed + seconds * 1000;
    const id = server.begin("tools/call", SLEEP, { progressToken: "p" });
    const op = await untilRunning(talk);
    await server.clock.sleep(Math.max(0, due - server.clock.passed));
    assert.equal(server.find(id), undefined);
    server.cancel(id);
    await server.until(async () => await stateOf(folder, op) === "cancelled", "the end of the work");
    const sent = server.received.length;
    server.cancel(id);
    await pass(server, 60);
    assert.equal(server.received.length, sent, "nothing more is sent for a cancelled request");
    assert.deepEqual(dataOf(await server.call("hv_op_wait", { op })).state, "cancelled");
  });
}

Deno.test("the request with id 0 can be cancelled", () =>
  withTemporaryFolder(async (folder) => {
    await using server = await InProcessServer.start(folder, { era: "2026-07-28" });
    const scratch = await server.driver.sandboxes.create({
      ...{ name: "box", image: "tiny", memory_mb: 16, cpus: 1, ttl_s: 1e6, tiedToUs: false },
    });
    assert.ok(scratch);
    const id = server.begin("tools/call", SLEEP);
    assert.equal(id, 0);
    const op = await untilRunning({ server, folder });
    server.cancel(0);
    await server.until(async () => await stateOf(folder, op) === "cancelled", "the end of the work");
    assert.deepEqual(server.received, []);
  }));

inBothEras("cancelling what has ended or never was changes nothing", async ({ server }) => {
  const id = server.begin("tools/call", { name: "hv_vm_list", arguments: {} });
  await server.answer(id);
  for (const unknown of [id, id, 999, "x", null, {}]) server.cancel(unknown);
  assert.equal(dataOf(await server.call("hv_vm_list")).vms instanceof Array, true);
});

inBothEras("the same key gives the same operation, and another call under it is refused", async (talk) => {
  const { server } = talk;
  const meta = { "hvlab/key": "once" };
  const make = (name: string): Promise<WireMessage> =>
    server.call("hv_vm_create", { name, image: "tiny" }, meta);
  const first = dataOf(await make("web"));
  const again = dataOf(await make("web"));
  assert.deepEqual(again, first);
  assert.equal([...server.driver.machines.values()].filter(({ vm }) => vm.name === "web").length, 1);
  assert.equal(failureOf(await make("other")).code, "hv.conflict");
  const slow = { ...SLEEP.arguments, wait_s: 0 };
  const [begun, joined] = [
    dataOf(await server.call(SLEEP.name, slow, { "hvlab/key": "slow" })),
    dataOf(await server.call(SLEEP.name, slow, { "hvlab/key": "slow" })),
  ];
  assert.equal(joined.op, begun.op);
  assert.equal(failureOf(await server.call("hv_vm_list", {}, { "hvlab/key": 5 })).code, "hv.usage");
});
