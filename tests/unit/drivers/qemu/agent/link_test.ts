import assert from "node:assert/strict";
import { joinPath } from "../../../../../src/base/paths.ts";
import { AgentLink } from "../../../../../src/drivers/qemu/agent/link.ts";
import { openDenoHost } from "../../../../../src/host/deno_host.ts";
import { busySocket } from "../../../../support/busy_socket.ts";
import { failureOf } from "../../../../support/failures.ts";
import { FakeAgent } from "../../../../support/fake_agent.ts";
import { ScriptedHost } from "../../../../support/scripted_host.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

const isCrashed = (): Promise<undefined> => Promise.resolve(undefined);

Deno.test("a QEMU that stands still with others in its queue is waited for", () =>
  withTemporaryFolder(async (folder) => {
    const real = openDenoHost();
    const socket = joinPath(folder, "agent");
    const lock = joinPath(folder, "agent.lock");
    let tries = 0;
    const host = {
      ...real,
      sockets: {
        ...real.sockets,
        connectUnix: (path: string) =>
          ++tries > 2 ? real.sockets.connectUnix(path) : Promise.reject(busySocket(path)),
      },
    };
    const agent = new FakeAgent(socket);
    const link = new AgentLink({ host, socket, lock, isCrashed });
    await link.connect(new AbortController().signal);
    assert.equal(tries, 3);
    assert.deepEqual(agent.requests, ["guest-sync-delimited"]);
    link.close();
    await agent.close();
    // Nothing holds on to the turns that led nowhere.
    using _free = await host.locks.take(lock);
  }));

Deno.test("one that never moves on is no agent that answers, and not nobody at all", async () => {
  await using host = await ScriptedHost.open();
  host.sockets.connectUnix = (path) => Promise.reject(busySocket(path));
  const [socket, lock] = [`${host.root}/agent`, `${host.root}/agent.lock`];
  const link = new AgentLink({ host, socket, lock, isCrashed });
  const waiting = () => link.connect(new AbortController().signal, 1_000);
  const failure = await failureOf("hv.guest_not_ready", waiting);
  assert.match(failure.message, /its agent does not answer, waited \d+(\.\d)? of 1 s/);
  assert.ok(host.clock.passed >= 1_000);
});
