import assert from "node:assert/strict";
import { askGuestToShutDown } from "../../../../../src/drivers/qemu/agent/shutdown.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { busySocket } from "../../../../support/busy_socket.ts";
import type { LineServer } from "../../../../support/scripted_host.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

interface AgentRequest {
  execute: string;
  arguments: { id?: number; mode?: string };
}

/** What the agent does with a request, after the marker that QEMU's agent answers with an error of its own. */
type Agent = (request: AgentRequest, answer: (line: string) => void) => void;

async function withAgent({ host }: QemuBench, agent: Agent): Promise<RuntimeFolder> {
  const runtime = RuntimeFolder.of(host, VM_ID);
  await Deno.mkdir(runtime.path, { recursive: true });
  const serve: LineServer = (line, answer) => {
    const text = line.slice(line.indexOf("{"));
    if (text !== line) {
      answer(`{"error": {"class": "GenericError", "desc": "JSON parse error, stray '\\ufffd'"}}`);
    }
    agent(JSON.parse(text), answer);
  };
  await host.sockets.listen(runtime.agent, serve);
  return runtime;
}

Deno.test("an agent that answers is asked to power down, and its silence means yes", () =>
  withQemu(async (bench) => {
    const asked: AgentRequest[] = [];
    const runtime = await withAgent(bench, (request, answer) => {
      asked.push(request);
      if (request.execute !== "guest-sync-delimited") return;
      answer(`{"return": 1} left over from somebody else`);
      answer(`\ufffd{"return": ${request.arguments.id}}`);
    });
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), true);
    assert.deepEqual(asked.map(({ execute }) => execute), ["guest-sync-delimited", "guest-shutdown"]);
    assert.deepEqual(asked[1]?.arguments, { mode: "powerdown" });
  }));

Deno.test("an agent that refuses has not been asked with success", () =>
  withQemu(async (bench) => {
    const runtime = await withAgent(bench, ({ execute, arguments: { id } }, answer) => {
      if (execute === "guest-sync-delimited") answer(`{"return": ${id}}`);
      else answer(`{"error": {"class": "CommandNotFound", "desc": "disabled"}}`);
    });
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
  }));

Deno.test("a guest that is still booting is not waited for, nor is a socket without anybody", () =>
  withQemu(async (bench) => {
    const runtime = await withAgent(bench, () => {});
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
    assert.ok(bench.host.clock.passed <= 4000);
    bench.host.sockets.silence(runtime.agent);
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
    await Deno.remove(runtime.agent);
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
  }));

Deno.test("a QEMU that stands still with others in its queue has no agent that answers", () =>
  withQemu(async (bench) => {
    const runtime = await withAgent(bench, () => {});
    bench.host.sockets.connectUnix = (path) => Promise.reject(busySocket(path));
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
    // Its turn is over.
    using _free = await bench.host.locks.take(runtime.agentLock);
  }));

Deno.test("an agent that another call keeps busy is waited for no longer than a moment", () =>
  withQemu(async (bench) => {
    const runtime = await withAgent(bench, () => {});
    using _held = await bench.host.locks.take(runtime.agentLock);
    assert.equal(await askGuestToShutDown(bench.host, runtime, bench.scope.signal), false);
    assert.ok(bench.host.clock.passed >= 2000);
  }));
