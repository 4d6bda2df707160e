/** The console of VMs on a simulated host: what its devices were told, and what it shows. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { readPng } from "../support/read_png.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import type { HyperVWorld } from "../support/hyperv_world.ts";

const Machine = z.object({
  Console: z.array(z.object({ Kind: z.string(), Value: z.unknown() })),
  Guest: z.object({ Crashed: z.optional(z.boolean()) }),
});

async function machineOf(world: HyperVWorld, id: string): Promise<z.infer<typeof Machine>> {
  const text = await Deno.readTextFile(`${world.folder}/machines/${id.slice("vm-".length)}.json`);
  return Machine.parse({ Console: [], Guest: {}, ...JSON.parse(text) });
}

faultTest("keys, places and buttons reach the devices as they were meant", async ({ lab, world }) => {
  const { id } = await lab.vm("vm_create", { name: "web", disk_size_mb: 64, memory_mb: 64 });
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  const before = await lab.call("console_screenshot", { vm: "web" });
  await lab.call("console_type", { vm: "web", text: "zA", layout: "de", enter: true });
  await lab.call("console_keys", { vm: "web", key: ["ctrl-alt-delete"] });
  await lab.call("console_mouse", { vm: "web", x: 10, y: 20, button: "right" });
  const { Console: told } = await machineOf(world, id);
  assert.deepEqual(told.map(({ Kind, Value }) => [Kind, Value]), [
    ["scancodes", [0x15, 0x95]],
    ["scancodes", [0x2a, 0x1e, 0x9e, 0xaa]],
    ["scancodes", [0x1c, 0x9c]],
    ["scancodes", [0x1d, 0x38, 0xe0, 0x53, 0xe0, 0xd3, 0xb8, 0x9d]],
    ["move", [10, 20]],
    ["button", [2, true]],
    ["button", [2, false]],
  ]);
  const after = await lab.call("console_screenshot", { vm: "web" });
  const [was, is] = [before, after].map(({ png_base64: picture }) => {
    assert.ok(typeof picture === "string");
    return readPng(Uint8Array.fromBase64(picture));
  });
  assert.deepEqual([is?.width, is?.height], [1024, 768]);
  assert.deepEqual(
    [...is?.rgb.subarray(0, 3) ?? []],
    [0, 255, 0],
    "the guest answers, which it shows in green",
  );
  assert.notDeepEqual(was?.rgb, is?.rgb, "what was pressed shows");

  const relative = await lab.failure("console_mouse", { vm: "web", x: 1, y: 1, relative: true });
  assert.equal(relative.code, "hv.unsupported");
  assert.equal((await lab.failure("console_mouse", { vm: "web", wheel: 1 })).code, "hv.unsupported");
  assert.equal((await lab.failure("serial_read", { vm: "web" })).code, "hv.unsupported");
  await lab.call("console_wait", { vm: "web", settled_s: 0.3 });

  const crashes = await lab.failure("vm_wait", { vm: "web", until: "crash" });
  assert.equal(crashes.code, "hv.unsupported");
  const { confirm } = await lab.plan("vm_nmi", { vm: "web" });
  await lab.call("vm_nmi", { vm: "web" }, { confirm });
  assert.equal((await machineOf(world, id)).Guest.Crashed, true);
});

faultTest("generation 1 has a mouse that moves, in steps that it can count", async ({ lab, world }) => {
  const { id } = await lab.vm("vm_create", { name: "old", disk_size_mb: 64, memory_mb: 64, generation: 1 });
  await lab.call("vm_start", { vm: "old" });
  const placed = await lab.failure("console_mouse", { vm: "old", x: 1, y: 1 });
  assert.equal(placed.code, "hv.unsupported", "nobody in the guest uses the new mouse yet");
  await lab.call("console_mouse", {
    vm: "old",
    x: 300,
    y: -10,
    relative: true,
    button: "left",
    action: "down",
  });
  const { Console: told } = await machineOf(world, id);
  const moves = told.filter(({ Kind }) => Kind === "nudge").map(({ Value }) =>
    z.array(z.number()).parse(Value)
  );
  assert.deepEqual([moves.length, sum(moves, 0), sum(moves, 1)], [3, 300, -10]);
  assert.deepEqual(told.at(-1)?.Value, [1, true]);
}, { host: { GuestBootSeconds: 600 } });

endSharedHost();

function sum(rows: readonly (readonly number[])[], column: number): number {
  return rows.reduce((total, row) => total + (row[column] ?? 0), 0);
}
