/**
 * A command in a guest that is up, beside the channel's own round trip: for SSH a command of the same client over a shared
 * connection, for the guest agent the requests that start a program and tell its end.
 */

import { linkFor, openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import { readStatus, statusCommand } from "../../src/drivers/qemu/agent/program.ts";
import { numberIn } from "../../src/drivers/qemu/agent/protocol.ts";
import type { GuestChannel } from "../../src/guest/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { findTinyImage, startPlainMachine } from "../../tests/support/plain_qemu.ts";
import { measureSideBySide, type Row } from "./report.ts";
import { openTinySsh } from "./tiny_ssh.ts";

const ROUNDS = 31;
const LIMIT_MS = 60_000;

/** Measures in this process on one guest; answers no rows where there is no image of the tiny guest. */
export async function measureGuest(): Promise<Row[]> {
  const image = findTinyImage();
  if (image === undefined) return [];
  await using machine = await startPlainMachine(image);
  const host = openDenoHost();
  const address = {
    host,
    socket: machine.agent,
    lock: `${machine.agent}.lock`,
    isCrashed: () => Promise.resolve(undefined),
  };
  const agent = openAgentChannel(address);
  const link = linkFor(address);
  await agent.ping(AbortSignal.timeout(LIMIT_MS));
  const { channel, folder, words } = await openTinySsh(machine, agent, LIMIT_MS);
  await using ssh = channel;
  const byHand = async (): Promise<void> => {
    await host.processes.run("ssh", ["-T", ...words, "true"], { cwd: folder });
  };
  const byRequests = async (): Promise<void> => {
    const round = { signal: AbortSignal.timeout(LIMIT_MS) };
    const [begun] = await link.ask([{ name: "guest-exec", arguments: { path: "/bin/true" } }], round);
    if (!begun.ok) throw new Error(begun.text);
    const pid = numberIn(begun.value, "pid");
    for (;;) {
      const [answer] = await link.ask([statusCommand(pid)], round);
      if (readStatus(pid, answer).exit !== undefined) return;
      await host.clock.sleep(1);
    }
  };
  await byHand();
  const [agentAlone = NaN, agentExec = NaN, sshAlone = NaN, sshExec = NaN] = await measureSideBySide(
    [byRequests, () => runTrue(agent), byHand, () => runTrue(ssh)].map(timed),
    ROUNDS,
  );
  agent.close();
  return [
    { what: "the agent's own requests for a program", value: agentAlone },
    { what: "guest_exec true over the agent", value: agentExec, baseline: agentAlone, target: 2 },
    { what: "ssh by hand over a shared connection", value: sshAlone },
    { what: "guest_exec true over SSH", value: sshExec, baseline: sshAlone, target: 2 },
  ];
}

async function runTrue(channel: GuestChannel): Promise<void> {
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  await channel.exec({ argv: ["true"] }, nothing, AbortSignal.timeout(LIMIT_MS));
}

function timed(work: () => Promise<void>): () => Promise<number> {
  return async () => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
}
