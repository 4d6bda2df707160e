/** Lists of modules of our own writer's machines, whole and damaged, and what identifies their images. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../../../src/dump/bytes.ts";
import { openDump } from "../../../../../src/dump/open.ts";
import type { KernelSession } from "../../../../../src/dump/session.ts";
import { DumpBytes } from "../../../../support/dump_writer.ts";
import { dumpMachine, smallDump } from "../../../../support/machine_dump.ts";
import type { MachineMemory } from "../../../../support/machine_memory.ts";
import { inPool, PLACES, pointers, writeMachine } from "../../../../support/machine_writer.ts";

function open(bytes: Uint8Array): KernelSession {
  const session = openDump(new MemorySource(bytes));
  assert(session.mode === "kernel");
  return session;
}

Deno.test("a list of modules that loops, breaks off or never ends is cut with a warning", () => {
  const reasons = (machine: MachineMemory) => {
    const { modules, warnings } = open(dumpMachine(machine, "fdmp"));
    return [modules.truncated, modules.all.length, warnings.map(({ reason }) => reason)];
  };
  const entry = inPool(64, 0x6200n);

  const loop = writeMachine("x64");
  loop.put(entry, pointers(64, [inPool(64, 0x6000n)]));
  assert.deepEqual(reasons(loop), [true, 2, ["list_loop"]]);

  const broken = writeMachine("x64");
  broken.put(entry, pointers(64, [0xFFFFA0FF00000000n]));
  assert.deepEqual(reasons(broken), [true, 2, ["list_cut"]]);

  const endless = writeMachine("x64");
  const far = 0xFFFFA10000000000n;
  const entries = new DumpBytes(5000 * 0xA0);
  for (let index = 0; index < 5000; index++) {
    entries.u64(index * 0xA0, far + BigInt((index + 1) * 0xA0)).u64(index * 0xA0 + 0x30, 0x1000n);
  }
  endless.put(far, entries.bytes);
  endless.put(entry, pointers(64, [far]));
  assert.deepEqual(reasons(endless), [true, 4096, ["list_count"]]);

  const missing = writeMachine("x64");
  missing.setEntry(PLACES[64].list, 0n, 1);
  const session = open(dumpMachine(missing, "full"));
  assert.deepEqual([session.modules.all, session.modules.truncated], [[], true]);
});

Deno.test("an entry whose name is not in the dump still has its place", () => {
  const machine = writeMachine("x64");
  machine.setEntry(inPool(64, 0x7000n), 0n, 1);
  const [kernel] = open(dumpMachine(machine, "full")).modules.all;
  assert.equal(kernel?.path, null);
  assert.equal(kernel?.name, "module at 0xfffff80010000000");
  assert.equal(kernel?.size, 0x5000);
});

Deno.test("the headers of an image in memory win over the loader's entry, and lead to its symbol file", () => {
  const machine = writeMachine("x64");
  const image = new DumpBytes(0x1000)
    .text(0, "MZ")
    .u32(0x3C, 0x80)
    .text(0x80, "PE")
    .u32(0x88, 0xCAFE0001)
    .u16(0x98, 0x20B)
    .u32(0x98 + 0x38, 0x6000)
    .u32(0x98 + 0x40, 0x99)
    .u32(0x98 + 0x6C, 16)
    .u32(0x98 + 0x70 + 6 * 8, 0x800, 56)
    .u32(0x80C, 16)
    .u32(0x800 + 28 + 12, 2, 0x40, 0x900)
    .text(0x900, "RSDS")
    .u32(0x904, 0x01020304)
    .u16(0x908, 0x0506, 0x0708)
    .text(0x90C, "\x09\x0A\x0B\x0C\x0D\x0E\x0F\x10")
    .u32(0x914, 7)
    .text(0x918, "C:\\build\\evil.pdb");
  machine.put(PLACES[64].driver, image.bytes);
  const session = open(dumpMachine(machine, "full"));
  const module = session.modules.at(PLACES[64].driver);
  assert(module !== null);
  assert.deepEqual([module.size, module.timeDateStamp, module.checkSum], [0x6000, 0xCAFE0001, 0x99]);
  assert.deepEqual(session.codeViewOf(module), {
    format: "RSDS",
    id: "0102030405060708090A0B0C0D0E0F10",
    age: 7,
    path: "C:\\build\\evil.pdb",
    name: "evil.pdb",
  });
  const [kernel] = session.modules.all;
  assert(kernel !== undefined);
  assert.equal(session.codeViewOf(kernel), null);
});

Deno.test("a small dump is searched for the symbol file of a driver whose headers it lacks", () => {
  const machine = writeMachine("x64");
  const record = (guid: number) =>
    new DumpBytes(0x60).text(0x10, "RRSDS").u32(0x15, guid).u32(0x25, 3).text(0x29, "x/evil.pdb").bytes;
  const driver = PLACES[64].driver;
  const only = open(smallDump(machine, { blocks: [[driver + 0x800n, record(1)]] }).bytes);
  const [, module] = only.modules.all;
  assert(module !== undefined);
  const found = only.codeViewOf(module);
  assert.deepEqual([found?.id, found?.age, found?.name], ["00000001000000000000000000000000", 3, "evil.pdb"]);
  const two = open(
    smallDump(machine, { blocks: [[driver + 0x800n, record(1)], [driver + 0x1000n, record(2)]] }).bytes,
  );
  assert.equal(two.codeViewOf(module), null, "two records that differ tell nothing");
});
