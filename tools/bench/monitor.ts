/** A monitor's round trip through hvlab's client, beside a loop over the bare socket. Linux and macOS. */

import { QmpSession } from "../../src/drivers/qemu/monitor/qmp.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 15;
const TRIPS = 1000;
const LOOK_AGAIN_MS = 5;

/** Measures `query-status` on an empty machine with two monitors. */
export async function measureMonitor(): Promise<Row[]> {
  const folder = await Deno.makeTempDir({ prefix: "hv-" });
  const monitors = ["bare", "client"].map((name) => `${folder}/${name}`);
  const qemu = new Deno.Command("qemu-system-x86_64", {
    args: [
      ...["-M", "none", "-nodefaults", "-display", "none"],
      ...monitors.flatMap((path) => ["-qmp", `unix:${path},server=on,wait=off`]),
    ],
    stdin: "null",
    stdout: "null",
  }).spawn();
  try {
    const [bare, client] = await Promise.all([openBare(`${folder}/bare`), openClient(`${folder}/client`)]);
    const [byHand = NaN, ours = NaN] = await measureSideBySide(
      [() => timeOf(() => bare.ask("query-status")), () => timeOf(() => client.command("query-status"))],
      ROUNDS,
    );
    bare.close();
    client.close();
    await client.ended;
    return [
      { what: "bare socket loop, one query-status in microseconds", value: byHand * 1000 / TRIPS },
      {
        what: "hvlab's client",
        value: ours * 1000 / TRIPS,
        baseline: byHand * 1000 / TRIPS,
        target: 1.2,
      },
    ];
  } finally {
    qemu.kill("SIGKILL");
    await qemu.status;
    await Deno.remove(folder, { recursive: true });
  }
}

async function timeOf(trip: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let count = 0; count < TRIPS; count++) await trip();
  return performance.now() - start;
}

async function openClient(path: string): Promise<QmpSession> {
  const host = openDenoHost();
  for (;;) {
    const connection = await host.sockets.connectUnix(path);
    if (connection !== undefined) return await QmpSession.open(connection, host.clock);
    await host.clock.sleep(LOOK_AGAIN_MS);
  }
}

interface Bare {
  ask(command: string): Promise<unknown>;
  close(): void;
}

/** The least that a program must do: write the same line, read until a line ends, parse it. */
async function openBare(path: string): Promise<Bare> {
  while (await Deno.stat(path).then(() => false, () => true)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  const connection = await Deno.connect({ transport: "unix", path });
  const buffer = new Uint8Array(64 * 1024);
  const encoder = new TextEncoder();
  const readLine = async (): Promise<unknown> => {
    let text = "";
    const decoder = new TextDecoder();
    while (!text.endsWith("\n")) {
      const count = await connection.read(buffer);
      if (count === null) throw new Error("QEMU closed its monitor");
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    return JSON.parse(text);
  };
  let id = 0;
  const ask = async (execute: string): Promise<unknown> => {
    await connection.write(encoder.encode(JSON.stringify({ execute, id: ++id }) + "\n"));
    return await readLine();
  };
  await readLine();
  await ask("qmp_capabilities");
  return { ask, close: () => connection.close() };
}
