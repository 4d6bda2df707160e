/** Page table entries of every form, written into a machine, and trap frames. */

import { DumpBytes } from "./dump_writer.ts";
import type { MachineMemory } from "./machine_memory.ts";

/** An address and how it is mapped. */
export interface WrittenEntry {
  address: bigint;
  what: string;
  /** `more`: we read what the debugger without symbols of the kernel does not. */
  ours: "same" | "more";
}

/** Bits of entries that are tried one by one: does the page's frame have them, or does nobody care? */
const TRIED_BITS = [36n, 37n, 40n, 46n, 47n, 48n, 51n, 52n, 58n];
const IN_TRANSITION = 0x860n;

/** Maps pages by entries of every form; each page names its form. */
export function writeEntries(machine: MachineMemory): WrittenEntry[] {
  const entries: WrittenEntry[] = [];
  const wide = machine.paging !== "x86";
  let next = machine.bits === 64 ? 0xFFFFB00000000000n : 0x90000000n;
  const add = (what: string, entry: (frame: number) => bigint, ours: WrittenEntry["ours"] = "same") => {
    const frame = machine.newPage();
    machine.page(frame).text(0, what.padEnd(16, "."));
    machine.setEntry(next, BigInt.asUintN(wide ? 64 : 32, entry(frame)), 1);
    entries.push({ address: next, what, ours });
    next += 0x1000n;
  };
  const address = (frame: number) => BigInt(frame) << 12n;
  add("present", (frame) => machine.presentEntry(frame, 1));
  add("transition", (frame) => address(frame) | IN_TRANSITION);
  add("zero", () => 0n);
  add("paged out", () => 0x12345006n);
  if (wide) {
    for (const bit of TRIED_BITS) {
      add(`present bit ${bit}`, (frame) => machine.presentEntry(frame, 1) | (1n << bit));
      add(`trans. bit ${bit}`, (frame) => address(frame) | IN_TRANSITION | (1n << bit));
    }
    add(
      "guarded",
      (frame) => address(frame) | IN_TRANSITION | (1n << 45n),
      machine.bits === 64 ? "more" : "same",
    );
    writePrototypes(machine, add);
  }
  entries.push(...writeLargePages(machine));
  return entries;
}

function writePrototypes(
  machine: MachineMemory,
  add: (what: string, entry: (frame: number) => bigint) => void,
): void {
  const table = machine.bits === 64 ? 0xFFFFA10000000000n : 0x86000000n;
  const prototype = (index: bigint) =>
    machine.bits === 64 ? ((table + 8n * index) << 16n) | 0x400n : ((table + 8n * index) << 32n) | 0x400n;
  const [present, transition] = [machine.newPage(), machine.newPage()];
  machine.page(present).text(0, "behind prototype");
  machine.page(transition).text(0, "and in transit..");
  const targets = [
    machine.presentEntry(present, 1),
    (BigInt(transition) << 12n) | IN_TRANSITION,
    BigInt.asUintN(64, prototype(0n)),
    0x12345006n,
    0n,
  ];
  machine.put(table, new DumpBytes(targets.length * 8).u64(0, ...targets).bytes);
  targets.forEach((_, index) => add(`prototype ${index}`, () => prototype(BigInt(index))));
  add("prototype trans.", () => prototype(0n) | 0x800n);
}

function writeLargePages(machine: MachineMemory): WrittenEntry[] {
  const base = machine.bits === 64 ? 0xFFFFB10000000000n : 0x91000000n;
  const named = (frame: number, text: string) => machine.pages.set(frame, new DumpBytes(4096).text(0, text));
  named(0x1155, "in a large page.");
  machine.setEntry(base, machine.presentEntry(0x1000, 2), 2);
  const large: WrittenEntry = { address: base + 0x155000n, what: "large page", ours: "same" };
  if (machine.bits === 32) return [large];
  named(0x41355, "in a giant page.");
  machine.setEntry(0xFFFFB20000000000n, machine.presentEntry(0x40000, 3), 3);
  return [large, { address: 0xFFFFB20001355000n, what: "giant page", ours: "same" }];
}

/** A trap frame taken in the kernel, in which each word is told by its offset. */
export function writeTrapFrame(bits: 32 | 64): Uint8Array {
  const frame = new DumpBytes(0x190);
  for (let at = 0; at < 0x190; at += bits / 8) {
    if (bits === 64) frame.u64(at, 0xAA00000000000000n + BigInt(at));
    else frame.u32(at, 0xAA000000 + at);
  }
  return bits === 64 ? frame.u16(0x170, 0x10).bytes : frame.u32(0x6C, 8).bytes;
}
