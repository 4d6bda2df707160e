/** One step up a stack of ARM64: from the registers in a function to those in its caller. */

import type { VirtualMemory } from "../memory/virtual.ts";
import { viewOf } from "../pe/image.ts";
import { readContext, readTrapFrame, type RegisterContext } from "../windows/context.ts";
import { type ArmEntry, type ArmOperation, packedOperations, parseArmCodes } from "./arm64_codes.ts";
import { changeRegisters, type Step, type UnwindImage, type WalkEnd } from "./frame.ts";
import { findFunction } from "./function_table.ts";

const FP = 29;
const LR = 30;
const INSTRUCTION = 4;

/** The caller's registers; see `stepX64` for `exact`. */
export function stepArm64(
  memory: VirtualMemory,
  image: UnwindImage | null,
  registers: RegisterContext,
  exact: boolean,
): Step {
  if (image === null) return exact ? returnToLink(registers, "leaf") : { end: "no_module" };
  const rva = Number(registers.programCounter - image.base) - (exact ? 0 : INSTRUCTION);
  const found = findFunction(image, "arm64", rva);
  if (found === "unknown") return { end: "no_unwind_data" };
  if (found === "leaf") return exact ? returnToLink(registers, "leaf") : { end: "unwind_damaged" };
  const offset = rva - found.begin;
  const flag = found.second & 3;
  if (flag === 3) return { end: "unwind_version" };
  const wanted = flag === 0
    ? readFull(image, found.second, exact ? offset : null)
    : readPacked(found.second, exact ? offset : null);
  if (wanted === "leaf") return exact ? returnToLink(registers, "leaf") : { end: "unwind_damaged" };
  return typeof wanted === "string" ? { end: wanted } : undo(memory, registers, wanted);
}

/** Packed data: what is left to undo at `offset`; null stands for somewhere in the body. */
function readPacked(word: number, offset: number | null): readonly ArmOperation[] | "leaf" {
  const length = ((word >>> 2) & 0x7FF) * INSTRUCTION;
  const operations = packedOperations(word);
  if (offset === null) return operations;
  if (offset >= length) return "leaf";
  // Flag 2 is a piece of a function that has no prolog.
  const done = offset / INSTRUCTION;
  if ((word & 3) === 1 && done < operations.length) return operations.slice(operations.length - done);
  // The epilog mirrors the prolog without setting the frame and the homed arguments, and ends in a return.
  const mirrored = operations.filter(({ op }) => op !== "set_frame");
  const left = (length - offset) / INSTRUCTION - 1;
  return left < mirrored.length ? mirrored.slice(mirrored.length - left) : operations;
}

function readFull(
  image: UnwindImage,
  rva: number,
  offset: number | null,
): readonly ArmOperation[] | WalkEnd | "leaf" {
  const header = image.bytes.read(rva, 4);
  if (header === undefined) return "no_unwind_data";
  const word = viewOf(header).getUint32(0, true);
  if (((word >>> 18) & 3) !== 0) return "unwind_version";
  const length = (word & 0x3FFFF) * INSTRUCTION;
  const single = ((word >>> 21) & 1) === 1;
  let epilogs = (word >>> 22) & 0x1F;
  let codeWords = (word >>> 27) & 0x1F;
  let at = rva + 4;
  if (epilogs === 0 && codeWords === 0 && !single) {
    const extension = image.bytes.read(at, 4);
    if (extension === undefined) return "no_unwind_data";
    epilogs = viewOf(extension).getUint16(0, true);
    codeWords = extension[2] ?? 0;
    at += 4;
  }
  const scopes = single ? new Uint8Array(0) : image.bytes.read(at, epilogs * 4);
  if (scopes === undefined) return "no_unwind_data";
  const codes = image.bytes.read(at + scopes.length, codeWords * 4);
  if (codes === undefined) return "no_unwind_data";
  const placed = parseArmCodes(codes);
  const upToEnd = (start: number) => {
    const tail = placed.filter((each) => each.at >= start);
    const end = tail.findIndex(({ operation }) => operation.op === "end");
    return end < 0 ? tail : tail.slice(0, end);
  };
  const prolog = upToEnd(0);
  const body = prolog.map(({ operation }) => operation);
  if (offset === null) return body;
  if (offset >= length) return "leaf";
  const instructions = prolog.filter(({ silent }) => !silent).length;
  const done = offset / INSTRUCTION;
  // Behind the codes of the instructions come those that tell how the function was entered.
  if (done < instructions) return body.slice(instructions - done);
  const view = viewOf(scopes);
  const starts = single
    ? [{ start: length - (upToEnd(epilogs).length + 1) * INSTRUCTION, index: epilogs }]
    : Array.from({ length: epilogs }, (_, scope) => {
      const packed = view.getUint32(scope * 4, true);
      return { start: (packed & 0x3FFFF) * INSTRUCTION, index: packed >>> 22 };
    });
  for (const { start, index } of starts) {
    const operations = upToEnd(index).map(({ operation }) => operation);
    const inside = (offset - start) / INSTRUCTION;
    if (inside >= 0 && inside <= operations.length) return operations.slice(inside);
  }
  return body;
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
    case "context": {
      const saved = readContext(memory, "arm64", stackPointer);
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
