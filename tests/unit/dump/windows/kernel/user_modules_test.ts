import assert from "node:assert/strict";
import { MemorySource } from "../../../../../src/dump/bytes.ts";
import { openDump } from "../../../../../src/dump/open.ts";
import type { ModuleList } from "../../../../../src/dump/modules.ts";
import { DumpBytes } from "../../../../support/dump_writer.ts";
import { dumpMachine } from "../../../../support/machine_dump.ts";
import type { MachineMemory } from "../../../../support/machine_memory.ts";
import { MEMBERS, pointers, poolAddresses, writeMachine } from "../../../../support/machine_writer.ts";

const TEB = 0x7FF5F000n;

/** Sets the environment block of the crashed thread. */
function setTeb(machine: MachineMemory): void {
  const thread = poolAddresses(machine.bits).threads[1] ?? 0n;
  machine.put(thread + BigInt(MEMBERS.thread.teb), pointers(machine.bits, [TEB]));
}

/** Writes a loader's list of (base, path) whose last entry leads to `last`, by default back to the head. */
function writeLoader(
  machine: MachineMemory,
  width: 32 | 64,
  teb: bigint,
  at: bigint,
  images: [bigint, string][],
  last?: bigint,
): void {
  const [pebField, loaderField, listField] = width === 64 ? [0x60n, 0x18n, 0x10n] : [0x30n, 0x0Cn, 0x0Cn];
  const peb = at + 0x100n;
  const loader = at + 0x200n;
  const head = loader + listField;
  const entries = images.map((_, index) => at + 0x400n + BigInt(index * 0x200));
  machine.put(teb + pebField, pointers(width, [peb]));
  machine.put(peb + loaderField, pointers(width, [loader]));
  machine.put(head, pointers(width, [entries[0] ?? head]));
  images.forEach(([base, path], index) => {
    const entry = entries[index] ?? 0n;
    const text = entry + 0x100n;
    machine.put(text, new DumpBytes(path.length * 2).wide(0, path).bytes);
    machine.put(entry, pointers(width, [entries[index + 1] ?? last ?? head]));
    const fields = new DumpBytes(0x90);
    fields.bytes.set(pointers(width, [base]), width === 64 ? 0x30 : 0x18);
    fields.u32(width === 64 ? 0x40 : 0x20, 0x7000);
    fields.u16(width === 64 ? 0x48 : 0x24, path.length * 2, path.length * 2);
    fields.bytes.set(pointers(width, [text]), width === 64 ? 0x50 : 0x28);
    fields.u32(width === 64 ? 0x80 : 0x44, 0x1000 + index);
    machine.put(entry + 8n, fields.bytes.subarray(8));
  });
}

function userModules(machine: MachineMemory): ModuleList {
  const session = openDump(new MemorySource(dumpMachine(machine, "full")));
  assert(session.mode === "kernel");
  return session.userModules;
}

function told({ all, truncated }: ModuleList): unknown {
  return [all.map(({ name, base, size, timeDateStamp }) => [name, base, size, timeDateStamp]), truncated];
}

Deno.test("a process's images come from its loader's list", () => {
  const machine = writeMachine("x64");
  setTeb(machine);
  writeLoader(machine, 64, TEB, 0x20000n, [[0x400000n, "C:\\bin\\a.exe"], [0x7FF800000000n, "C:\\b.dll"]]);
  assert.deepEqual(told(userModules(machine)), [
    [["a.exe", 0x400000n, 0x7000, 0x1000], ["b.dll", 0x7FF800000000n, 0x7000, 0x1001]],
    false,
  ]);
});

Deno.test("the images of a 32-bit program on a 64-bit kernel follow those of its 64-bit part", () => {
  const machine = writeMachine("x64");
  setTeb(machine);
  writeLoader(machine, 64, TEB, 0x20000n, [[0x400000n, "C:\\a.exe"], [0x70000000n, "C:\\wow64.dll"]]);
  writeLoader(machine, 32, TEB + 0x2000n, 0x30000n, [[0x400000n, "C:\\a.exe"], [0x10000000n, "C:\\c.dll"]]);
  const { all } = userModules(machine);
  assert.deepEqual(all.map(({ name }) => name), ["a.exe", "wow64.dll", "c.dll"]);
});

Deno.test("a 32-bit kernel has one list", () => {
  const machine = writeMachine("x86-pae");
  setTeb(machine);
  writeLoader(machine, 32, TEB, 0x20000n, [[0x400000n, "C:\\a.exe"]]);
  assert.deepEqual(told(userModules(machine)), [[["a.exe", 0x400000n, 0x7000, 0x1000]], false]);
});

Deno.test("a list that loops or breaks off is cut, and a thread of the kernel has none", () => {
  const images: [bigint, string][] = [[0x400000n, "C:\\a.exe"], [0x500000n, "C:\\b.dll"]];
  const looping = writeMachine("x64");
  setTeb(looping);
  writeLoader(looping, 64, TEB, 0x20000n, images, 0x20400n);
  assert.deepEqual([userModules(looping).all.length, userModules(looping).truncated], [2, true]);
  const broken = writeMachine("x64");
  setTeb(broken);
  writeLoader(broken, 64, TEB, 0x20000n, images, 0x99990000n);
  assert.deepEqual([userModules(broken).all.length, userModules(broken).truncated], [2, true]);
  assert.deepEqual(told(userModules(writeMachine("x64"))), [[], false]);
});
