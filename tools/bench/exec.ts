/** A program in a booted guest through hvlab's channel, beside the agent's own `guest-exec` and its status by hand. */

import { openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { findTinyImage, startPlainMachine } from "../../tests/support/plain_qemu.ts";
import { isRecord, JsonLines } from "../image/json_lines.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 31;
const LIMIT_MS = 120_000;
const LOOK_AGAIN_MS = 1;
/** The agent pauses about 100 ms after each client; neither side is to wait for the other's. */
const PAUSE_MS = 150;

/** Measures `true` both ways in one guest that nothing else uses; one connection after the other. */
export async function measureExec(): Promise<Row[]> {
  const image = findTinyImage();
  if (image === undefined) throw new Error("build the tiny guest first: tools/image/build_tiny.sh dist/tiny");
  await using machine = await startPlainMachine(image);
  const signal = AbortSignal.timeout(LIMIT_MS);
  const channel = openAgentChannel({
    host: openDenoHost(),
    socket: machine.agent,
    lock: `${machine.agent}.lock`,
    isCrashed: () => Promise.resolve(undefined),
  });
  await channel.ping(signal);
  const sinks = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const run = () => channel.exec({ argv: ["true"] }, sinks, signal).then(() => {});
  const [ours = NaN] = await measureSideBySide([() => timeOf(run)], ROUNDS);
  channel.close();
  await sleep(PAUSE_MS);
  const agent = await JsonLines.open(machine.agent, LIMIT_MS);
  await agent.send({ execute: "guest-sync-delimited", arguments: { id: 1 } }, Uint8Array.of(0xff));
  while ((await receive(agent)).return !== 1);
  const [byHand = NaN] = await measureSideBySide([() => timeOf(() => runByHand(agent))], ROUNDS);
  agent.close();
  return [
    { what: "guest-exec of true and its status, by hand", value: byHand },
    { what: "hvlab's channel", value: ours, baseline: byHand, target: 2 },
  ];
}

async function runByHand(agent: JsonLines): Promise<void> {
  await agent.send({ execute: "guest-exec", arguments: { "path": "/bin/true", "capture-output": true } });
  const started = (await receive(agent)).return;
  const pid = isRecord(started) ? started.pid : undefined;
  for (;;) {
    await sleep(LOOK_AGAIN_MS);
    await agent.send({ execute: "guest-exec-status", arguments: { pid } });
    const status = (await receive(agent)).return;
    if (isRecord(status) && status.exited === true) return;
  }
}

async function receive(agent: JsonLines): Promise<Record<string, unknown>> {
  const answer = await agent.receive();
  if (answer === undefined) throw new Error("QEMU ended");
  return answer;
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
