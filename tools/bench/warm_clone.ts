/** Clones of a warm template, beside clones of the same template that are started by hand. Linux only. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { MemoryFindings } from "../../tests/support/qemu_context.ts";
import { findTinyImage } from "../../tests/support/tiny_image.ts";
import { type HandClone, HandMade } from "./hand_made_clone.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 15;
const FLEET = 20;
const FLEET_ROUNDS = 3;
const SIZE = { memory_mb: 256, cpus: 1 };
const LIMIT_MS = 600_000;

/** Measures one clone and twenty at once, in this process, with the image `tiny` of `dist/tiny`. */
export async function measureWarmClone(): Promise<Row[]> {
  const source = findTinyImage();
  if (source === undefined) {
    throw new Error("build the tiny guest first: tools/image/build_tiny.sh dist/tiny");
  }
  const root = await Deno.makeTempDir({ prefix: "hv-" });
  const driver = await openLab(root);
  const scope: CallScope = {
    signal: AbortSignal.timeout(LIMIT_MS),
    progress: () => {},
    warn: (text) => console.error(`bench: ${text}`),
  };
  try {
    await driver.images?.import(source, scope);
    const template = await driver.templates?.warm("tiny", SIZE, scope);
    if (template === undefined) throw new Error("the driver has no templates");
    const sample = await create(driver, scope);
    const { pid = 0 } = await driver.vms.get(sample, scope.signal);
    const hand = await HandMade.of(pid, `${template.folder}/state`, [
      `${root}/run`,
      `${root}/state/vms/${sample}`,
    ]);
    await driver.vms.remove(sample, scope);

    const [byHand = NaN, ours = NaN] = await measureSideBySide(
      [() => timeOneByHand(hand), () => timeOne(driver, scope)],
      ROUNDS,
    );
    const memory: number[][] = [[], []];
    const [fleetByHand = NaN, fleet = NaN] = await measureSideBySide(
      [() => timeFleetByHand(hand, memory), () => timeFleet(driver, scope, memory)],
      FLEET_ROUNDS,
      1,
    );
    const [memoryByHand = NaN, memoryOfOurs = NaN] = memory.map((values) => Math.min(...values));
    return [
      { what: "clone by hand, start to first command's end", value: byHand },
      { what: "hvlab's clone", value: ours, baseline: byHand, target: 1.25 },
      {
        what: `${FLEET} clones by hand, ${places()} at a time, to the last command's end`,
        value: fleetByHand,
      },
      {
        what: `${FLEET} of hvlab's, all asked for at once`,
        value: fleet,
        baseline: fleetByHand,
        target: 1.3,
      },
      { what: "memory (PSS) of a clone by hand, MiB", value: memoryByHand },
      { what: "memory (PSS) of hvlab's, MiB", value: memoryOfOurs },
      { what: "difference, MiB", value: memoryOfOurs - memoryByHand, target: 10 },
    ];
  } finally {
    await driver.close();
    await Deno.remove(root, { recursive: true });
  }
}

async function openLab(root: string): Promise<Driver> {
  const real = openDenoHost();
  const { environment } = real;
  const host = {
    ...real,
    environment: {
      get: (name: string) => environment.get(name),
      configFolder: () => environment.configFolder(),
      stateFolder: () => environment.stateFolder(),
      runtimeFolder: () => `${root}/run`,
    },
  };
  const state = new StateFolder(`${root}/state`);
  return await openDriver("qemu", { host, state, config: DEFAULT_CONFIG, findings: new MemoryFindings() });
}

function places(): number {
  return navigator.hardwareConcurrency + 1;
}

async function create(driver: Driver, scope: CallScope): Promise<string> {
  const name = `clone ${crypto.randomUUID()}`;
  const id = await driver.sandboxes?.create(
    { ...SIZE, name, image: "tiny", ttl_s: 600, tiedToUs: true },
    scope,
  );
  if (id === undefined) throw new Error("the driver has no sandboxes");
  return id;
}

/** From the request to the end of the first command in the guest. */
async function createAndRun(driver: Driver, scope: CallScope): Promise<string> {
  const id = await create(driver, scope);
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  const sinks = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const exit = await channel?.exec({ argv: ["true"] }, sinks, scope.signal);
  if (exit?.exit_code !== 0) throw new Error("the guest's command failed");
  channel?.close();
  return id;
}

async function timeOne(driver: Driver, scope: CallScope): Promise<number> {
  const start = performance.now();
  const id = await createAndRun(driver, scope);
  const time = performance.now() - start;
  await driver.vms.remove(id, scope);
  return time;
}

async function timeOneByHand(hand: HandMade): Promise<number> {
  const start = performance.now();
  await using _clone = await hand.startAndRun();
  return performance.now() - start;
}

async function timeFleet(driver: Driver, scope: CallScope, memory: number[][]): Promise<number> {
  const start = performance.now();
  const ids = await Promise.all(Array.from({ length: FLEET }, () => createAndRun(driver, scope)));
  const time = performance.now() - start;
  const vms = await Promise.all(ids.map((id) => driver.vms.get(id, scope.signal)));
  memory[1]?.push(await meanPss(vms.map(({ pid }) => pid ?? 0)));
  for (const id of ids) await driver.vms.remove(id, scope);
  return time;
}

async function timeFleetByHand(hand: HandMade, memory: number[][]): Promise<number> {
  const clones: HandClone[] = [];
  let left = FLEET;
  const work = async (): Promise<void> => {
    while (left-- > 0) clones.push(await hand.startAndRun());
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: places() }, work));
  const time = performance.now() - start;
  memory[0]?.push(await meanPss(clones.map(({ pid }) => pid)));
  for (const clone of clones) await clone[Symbol.asyncDispose]();
  return time;
}

/** Memory that processes have for themselves, and their share of what they have together. */
async function meanPss(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    const text = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`);
    sum += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? NaN);
  }
  return sum / pids.length / 1024;
}
