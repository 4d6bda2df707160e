/** Looking at disks, beside qemu-img: hvlab's own work as a server does it, and whole processes. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { Pipeline } from "../../src/tools/call.ts";
import { Session } from "../../src/tools/session.ts";
import { catalogue } from "../../src/tools/table.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 20;
const LAYERS = [3, 60] as const;

/** Measures hvlab and qemu-img on the same files, in a temporary folder. */
export async function measureDisks(): Promise<Row[]> {
  const folder = await Deno.makeTempDir();
  try {
    await using session = new Session({
      host: openDenoHost(),
      config: DEFAULT_CONFIG,
      state: new StateFolder(`${folder}/state`),
      door: "mcp",
      catalogue,
      openDriver: (_, options) => openDriver("qemu", options),
    });
    const pipeline = new Pipeline(session);
    const rows: Row[] = [];
    for (const layers of LAYERS) {
      const path = await makeChain(folder, layers);
      const [qemu = NaN, info = NaN, chain = NaN, whole = NaN] = await measureSideBySide([
        () => timeOf("qemu-img", ["info", "--backing-chain", path]),
        () => timeOfCall(pipeline, "disk_info", path),
        () => timeOfCall(pipeline, "disk_chain", path),
        () => timeOf(Deno.execPath(), bundleArguments(["disk", "chain", path, "--json"])),
      ], ROUNDS);
      rows.push(
        { what: `qemu-img info --backing-chain, ${layers} layers`, value: qemu },
        { what: "disk_info in a server", value: info, baseline: qemu, target: 1.5 },
        { what: "disk_chain in a server", value: chain, baseline: qemu, target: 1.5 },
        { what: "hvlab disk chain, with the start of the program", value: whole },
      );
    }
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function makeChain(folder: string, layers: number): Promise<string> {
  let below: string | undefined;
  for (let depth = 0; depth < layers; depth++) {
    const path = `${folder}/${layers}-${depth}.qcow2`;
    const lean = below === undefined ? [] : ["-b", below, "-F", "qcow2"];
    await timeOf("qemu-img", ["create", "-q", "-f", "qcow2", ...lean, path, "64M"]);
    below = path;
  }
  return below ?? folder;
}

async function timeOfCall(pipeline: Pipeline, tool: string, path: string): Promise<number> {
  const start = performance.now();
  await pipeline.call({ tool, args: { path } }, { signal: AbortSignal.timeout(60_000), progress: () => {} });
  return performance.now() - start;
}

async function timeOf(program: string, args: string[]): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await new Deno.Command(program, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  const time = performance.now() - start;
  if (code !== 0) throw new Error(`${program} ended with code ${code}: ${new TextDecoder().decode(stderr)}`);
  return time;
}
