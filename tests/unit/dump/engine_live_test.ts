/** Dumps of our own writer, read by us and by the real debugger engine. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../src/dump/bytes.ts";
import { openDump } from "../../../src/dump/open.ts";
import type { KernelSession } from "../../../src/dump/session.ts";
import { namedRegisters, readTrapFrame, type RegisterContext } from "../../../src/dump/windows/context.ts";
import { askEngine, engineTest } from "../../support/debugger_engine.ts";
import { hexBytes, printedMemory, printedModules, printedRegisters } from "../../support/expected_values.ts";
import { dumpMachine, PAGE_CONTAINERS, smallDump } from "../../support/machine_dump.ts";
import type { MachineMemory } from "../../support/machine_memory.ts";
import { PLACES, writeMachine } from "../../support/machine_writer.ts";
import { writeEntries, writeTrapFrame } from "../../support/machine_entries.ts";

function open(bytes: Uint8Array): KernelSession {
  const session = openDump(new MemorySource(bytes));
  assert(session.mode === "kernel");
  return session;
}

function sortedRanges(ranges: readonly (readonly [bigint, bigint])[]): string[] {
  return ranges.map(([start, end]) => `${start.toString(16)}-${end.toString(16)}`).sort();
}

/** Registers in the words of the engine, which shows only the upper half of the ARM64 flags. */
function registersOf(context: RegisterContext): Map<string, bigint> {
  return new Map(namedRegisters(context).filter(([name]) => name !== "cpsr"));
}

async function compare(bytes: Uint8Array, what: string): Promise<void> {
  const session = open(bytes);
  const stack = session.contexts[0]?.registers.stackPointer ?? 0n;
  const look = `db ${stack.toString(16)} L40`;
  const output = await askEngine(bytes, "lm", "r", look);
  const { loaded, unloaded } = printedModules(output.get("lm") ?? "");
  assert.deepEqual(
    sortedRanges(session.modules.all.map(({ base, size }) => [base, base + BigInt(size)])),
    sortedRanges(loaded),
    what,
  );
  assert.deepEqual(
    sortedRanges(session.unloaded.map(({ start, end }) => [start, end])),
    sortedRanges(unloaded),
    what,
  );
  const printed = printedRegisters(output.get("r") ?? "");
  const [context] = session.contexts;
  assert(context !== undefined && printed.size >= 9, what);
  for (const [name, value] of registersOf(context.registers)) {
    assert.equal(printed.get(name), value, `${what}: ${name}`);
  }
  const lines = printedMemory(output.get(look) ?? "");
  assert.equal(lines.length, 4, what);
  for (const { address, bytes: expected } of lines) {
    assert.equal(hexBytes(session.memory.read(address, 16)), expected, what);
  }
}

engineTest("the engine reads the written machine as we do, from every container", async () => {
  const machine = writeMachine("x64");
  for (const container of PAGE_CONTAINERS) await compare(dumpMachine(machine, container), container);
  for (const paging of ["arm64", "x86-pae", "x86"] as const) {
    const other = writeMachine(paging);
    for (const container of ["full", "summary"] as const) {
      await compare(dumpMachine(other, container), `${paging} ${container}`);
    }
  }
  for (const paging of ["x64", "arm64"] as const) {
    await compare(smallDump(writeMachine(paging)).bytes, `${paging} small dump`);
  }
});

for (const paging of ["x64", "arm64", "x86-pae", "x86"] as const) {
  engineTest(`the engine follows every page table entry of ${paging} as we do`, async () => {
    const machine: MachineMemory = writeMachine(paging);
    const entries = writeEntries(machine);
    const frame = PLACES[machine.bits].stack + (machine.bits === 64 ? 0x2100n : 0x100n);
    machine.put(frame, writeTrapFrame(machine.bits));
    const bytes = dumpMachine(machine, machine.runs().length > 42 ? "fdmp" : "full");
    const session = open(bytes);
    const look = (address: bigint) => `db ${address.toString(16)} L10`;
    const trap = `.trap ${frame.toString(16)}`;
    const output = await askEngine(bytes, ...entries.map(({ address }) => look(address)), trap);
    for (const { address, what, ours } of entries) {
      const [line] = printedMemory(output.get(look(address)) ?? "");
      const found = hexBytes(session.memory.read(address, 16));
      const expected = line === undefined || line.bytes.length < 32 ? null : line.bytes;
      if (ours === "more") {
        assert.deepEqual([found !== null, expected], [true, null], `${what}: we read more`);
      } else assert.equal(found, expected, what);
    }
    const registers = readTrapFrame(session.memory, session.machine, frame);
    assert(registers !== null);
    const printed = printedRegisters(output.get(trap) ?? "");
    for (const [name, value] of registersOf(registers)) {
      if (name !== "efl") assert.equal(printed.get(name), value, `trap frame: ${name}`);
    }
  });
}
