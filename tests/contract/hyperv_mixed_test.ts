/** Two hundred calls at once on a simulated host, with limits, cancellations and sidecars killed: nothing happens twice. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { HvError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { Operation } from "../../src/contract/operation.ts";
import type { Lab } from "../contract/lab.ts";
import { faultTest } from "../support/hyperv_lab.ts";
import type { HyperVWorld } from "../support/hyperv_world.ts";

const VMS = 4;
const CALLS_EACH = 50;
const KILL_EVERY = 50;
/** What a disturbed call may end in; everything else is a bug. */
const ALLOWED = ["hv.timeout", "hv.cancelled", "hv.outcome_unknown", "hv.unavailable", "hv.conflict"];

/** A call, and the cmdlet that it uses once at most. */
interface Kind {
  tool: string;
  args: JsonObject;
  cmdlet?: string;
}

const KINDS: readonly Kind[] = [
  { tool: "vm_get", args: {} },
  { tool: "vm_start", args: {}, cmdlet: "Start-VM" },
  { tool: "vm_stop", args: { mode: "off" }, cmdlet: "Stop-VM" },
  { tool: "vm_pause", args: {}, cmdlet: "Suspend-VM" },
  { tool: "vm_resume", args: {}, cmdlet: "Resume-VM" },
  { tool: "vm_start", args: {}, cmdlet: "Start-VM" },
];

faultTest("200 disturbed calls double nothing and leave no process", async ({ lab, world }) => {
  const ids: string[] = [];
  for (let at = 0; at < VMS; at++) {
    ids.push((await lab.vm("vm_create", { name: `vm ${at}`, memory_mb: 64, disk_size_mb: 64 })).id);
  }
  await world.setFaults({
    rules: [
      { cmdlet: "Start-VM", do: "work", seconds: 0.2 },
      { cmdlet: "Suspend-VM", do: "delay", seconds: 0.2 },
      { cmdlet: "Stop-VM", do: "delay", seconds: 0.1 },
    ],
  });
  const before = await effectsOf(world);
  const tried = new Map<string, number>();
  const done = new Map<string, number>();
  let made = 0;
  const work = async (id: string, first: number): Promise<void> => {
    for (let at = 0; at < CALLS_EACH; at++) {
      const turn = first + at * VMS;
      const kind = KINDS[(turn * 7 + at) % KINDS.length];
      assert.ok(kind !== undefined);
      const key = `${kind.cmdlet ?? ""} ${id.slice(3)}`;
      tried.set(key, (tried.get(key) ?? 0) + 1);
      const effect = await effectOf(world, kind, id);
      const code = await disturbed(lab, kind, id, turn);
      const delta = await effectOf(world, kind, id) - effect;
      assert.ok(delta <= 1, `${key} happened ${delta} times in one call`);
      if (code === undefined) done.set(key, (done.get(key) ?? 0) + delta);
      else assert.ok(ALLOWED.includes(code), `${kind.tool}: ${code}`);
      if (++made % KILL_EVERY === 0) await killSidecars(world);
    }
  };
  await Promise.all(ids.map((id, at) => work(id, at)));
  assert.equal(made, VMS * CALLS_EACH);

  await world.setFaults({});
  const after = await effectsOf(world);
  for (const [key, times] of tried) {
    const total = (after.get(key) ?? 0) - (before.get(key) ?? 0);
    assert.ok(total <= times, `${key}: ${total} effects of ${times} calls`);
    assert.ok(total >= (done.get(key) ?? 0), key);
  }
  assert.ok([...done.values()].some((count) => count > 0));
  for (const id of ids) assert.equal((await lab.vm("vm_stop", { vm: id, mode: "off" })).state, "off");
  const operations = z.array(Operation).parse((await lab.call("op_list", { limit: 1000 })).operations);
  assert.deepEqual(operations.filter(({ state }) => state === "running"), []);
}, {});

/** Makes a call that may be given too little time or be cancelled; answers the code that it failed with. */
async function disturbed(
  lab: Lab,
  { tool, args }: Kind,
  vm: string,
  turn: number,
): Promise<string | undefined> {
  const given = new AbortController();
  const timer = turn % 5 === 0 ? setTimeout(() => given.abort(), 10 + turn % 90) : undefined;
  const limit = turn % 7 === 0 ? { timeout_s: 0.15 } : {};
  try {
    await lab.pipeline.call({ tool, args: { vm, ...args }, ...limit }, {
      signal: given.signal,
      progress: () => {},
    });
    return undefined;
  } catch (error) {
    if (error instanceof HvError) return error.code;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function killSidecars(world: HyperVWorld): Promise<void> {
  for (const pid of await world.livingSidecars()) await world.host.processes.kill(pid, "KILL");
}

/** How often each cmdlet has changed each VM, by `CMDLET UUID`. */
async function effectsOf(world: HyperVWorld): Promise<Map<string, number>> {
  const effects = z.record(z.string(), z.record(z.string(), z.number())).parse(
    JSON.parse(await Deno.readTextFile(`${world.folder}/effects.json`)),
  );
  return new Map(
    Object.entries(effects).flatMap(([cmdlet, counts]) =>
      Object.entries(counts).map(([target, count]) => [`${cmdlet} ${target.toLowerCase()}`, count] as const)
    ),
  );
}

async function effectOf(world: HyperVWorld, { cmdlet }: Kind, id: string): Promise<number> {
  return (await effectsOf(world)).get(`${cmdlet ?? ""} ${id.slice(3)}`) ?? 0;
}
