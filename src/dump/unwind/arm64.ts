/** One step up a stack of ARM64: from the registers in a function to those in its caller. */

import type { VirtualMemory } from "../memory/virtual.ts";
import { readContext, readTrapFrame, type RegisterContext } from "../windows/context.ts";
import { readEmulatedContext } from "../windows/emulated_context.ts";
import type { ArmEntry, ArmOperation } from "./arm64_codes.ts";
import { INSTRUCTION, operationsAt } from "./arm64_functions.ts";
import { changeRegisters, type Step, type UnwindImage } from "./frame.ts";

const FP = 29;
const LR = 30;

/** The caller's registers; see `stepX64` for `exact`. */
export function stepArm64(
  memory: VirtualMemory,
  image: UnwindImage | null,
  registers: RegisterContext,
  exact: boolean,
): Step {
  if (image === null) return exact ? returnToLink(registers, "leaf") : { end: "no_module" };
  const rva = Number(registers.programCounter - image.base) - (exact ? 0 : INSTRUCTION);
  const operations = operationsAt(image, rva, exact);
  if (operations === "leaf") return exact ? returnToLink(registers, "leaf") : { end: "unwind_damaged" };
  return typeof operations === "string" ? { end: operations } : undo(memory, registers, operations);
}

function undo(memory: VirtualMemory, from: RegisterContext, operations: readonly ArmOperation[]): Step {
  const general = [...from.general];
  const missing = new Set(from.missing);
  let stackPointer = from.stackPointer;
  for (const operation of operations) {
    switch (operation.op) {
      case "save":
        for (const [index, register] of operation.registers.entries()) {
          const value = memory.u64(stackPointer + BigInt(operation.offset + index * 8));
          if (value === undefined) return { end: "no_memory" };
          general[register] = value;
          missing.delete(register);
        }
        stackPointer += BigInt(operation.up);
        break;
      case "allocate":
        stackPointer += BigInt(operation.up);
        break;
      case "set_frame":
        stackPointer = general[FP] ?? 0n;
        break;
      case "add_frame":
        stackPointer = (general[FP] ?? 0n) - BigInt(operation.offset);
        break;
      case "strip":
        general[LR] = stripAuthentication(general[LR] ?? 0n);
        break;
      case "trap_frame":
      case "machine_frame":
      case "context":
      case "emulated_context":
      case "not_called":
        return leaveEntry(
          memory,
          changeRegisters(from, general, 0n, stackPointer, [...missing]),
          operation.op,
        );
      case "end":
      case "next":
        break;
      case "unknown":
        return { end: "unwind_version" };
    }
  }
  return returnToLink(changeRegisters(from, general, 0n, stackPointer, [...missing]), "unwind");
}

/** Back to what was interrupted. Only undoing the prolog before it has brought back what a trap does not save. */
function leaveEntry(memory: VirtualMemory, registers: RegisterContext, entry: ArmEntry): Step {
  const { general, missing, stackPointer } = registers;
  switch (entry) {
    case "not_called":
      return returnToLink(registers, "machine_frame");
    case "machine_frame": {
      const above = memory.u64(stackPointer);
      const programCounter = memory.u64(stackPointer + 8n);
      if (above === undefined || programCounter === undefined) return { end: "no_memory" };
      return { registers: changeRegisters(registers, general, programCounter, above), how: "machine_frame" };
    }
    case "context":
    case "emulated_context": {
      const saved = entry === "context"
        ? readContext(memory, "arm64", stackPointer)
        : readEmulatedContext(memory, stackPointer);
      return saved === null ? { end: "no_memory" } : { registers: saved, how: "machine_frame" };
    }
    case "trap_frame": {
      const trap = readTrapFrame(memory, "arm64", stackPointer);
      if (trap === null) return { end: "no_memory" };
      const kept = trap.general.map((value, number) =>
        trap.missing.includes(number) ? general[number] ?? 0n : value
      );
      const lost = trap.missing.filter((number) => missing.includes(number));
      return { registers: { ...trap, general: kept, missing: lost }, how: "machine_frame" };
    }
  }
}

function returnToLink(registers: RegisterContext, how: "leaf" | "unwind" | "machine_frame"): Step {
  const programCounter = stripAuthentication(registers.general[LR] ?? 0n);
  return {
    registers: changeRegisters(registers, registers.general, programCounter, registers.stackPointer),
    how,
  };
}

/** Follows the chain of saved frame pointers, for functions whose unwind data is not there. */
export function followFramePointer(memory: VirtualMemory, registers: RegisterContext): Step {
  const frame = registers.general[FP] ?? 0n;
  if (frame === 0n) return { end: "bottom" };
  if (frame % 8n !== 0n) return { end: "misaligned" };
  const next = memory.u64(frame);
  const link = memory.u64(frame + 8n);
  if (next === undefined || link === undefined) return { end: "no_memory" };
  const general = [...registers.general];
  general[FP] = next;
  general[LR] = link;
  const programCounter = stripAuthentication(link);
  return {
    registers: changeRegisters(registers, general, programCounter, frame + 16n),
    how: "frame_pointer",
  };
}

const UPPER = 0xFFFF_0000_0000_0000n;

/** Takes the signature out of a return address: the upper bits repeat bit 55 in an address that is used. */
function stripAuthentication(address: bigint): bigint {
  return ((address >> 55n) & 1n) === 1n ? address | UPPER : address & ~UPPER;
}
