/** One step up a stack of x64: from the registers in a function to those in its caller. */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { RegisterContext } from "../windows/context.ts";
import { changeRegisters, type Step, type UnwindImage } from "./frame.ts";
import { findFunction, type FunctionEntry, parseEntry } from "./function_table.ts";
import { findEpilog } from "./x64_epilog.ts";
import { readUnwindInfo, type UnwindInfo } from "./x64_info.ts";

const RSP = 4;
const MAXIMUM_CHAIN = 32;
/** Set in an entry that points to another entry instead of unwind data. */
const INDIRECT = 1;

/** Registers while they are being changed. */
export interface Unwinding {
  readonly general: bigint[];
  readonly missing: Set<number>;
  /** Set by a machine frame: the registers are complete then. */
  machine: { programCounter: bigint; stackPointer: bigint } | null;
}

/**
 * The caller's registers. `exact` says that the address was interrupted: only then can it lie in a prolog or an
 * epilog. Without an image the address is taken for a leaf, which it can only be when it is exact.
 */
export function stepX64(
  memory: VirtualMemory,
  image: UnwindImage | null,
  registers: RegisterContext,
  exact: boolean,
): Step {
  if (image === null) return exact ? returnFrom(memory, registers, "leaf") : { end: "no_module" };
  const rva = Number(registers.programCounter - image.base);
  const found = findFunction(image, "x64", exact ? rva : rva - 1);
  if (found === "unknown") return { end: "no_unwind_data" };
  if (found === "leaf") return returnFrom(memory, registers, "leaf");
  return unwindFunction(memory, image, registers, found, rva, exact);
}

function unwindFunction(
  memory: VirtualMemory,
  image: UnwindImage,
  registers: RegisterContext,
  first: FunctionEntry,
  rva: number,
  exact: boolean,
): Step {
  const state: Unwinding = {
    general: [...registers.general],
    missing: new Set(registers.missing),
    machine: null,
  };
  state.general[RSP] = registers.stackPointer;
  let entry: FunctionEntry = first;
  for (let link = 0; link < MAXIMUM_CHAIN; link++) {
    entry = followIndirect(image, entry) ?? entry;
    const info = readUnwindInfo(image.bytes, entry.third);
    if (info === null) return { end: "no_unwind_data" };
    if (info === "version") return { end: "unwind_version" };
    const inside = link === 0 && exact ? rva - entry.begin : Infinity;
    if (inside !== Infinity && inside >= info.prologBytes) {
      const epilog = findEpilog(image.bytes, memory, state.general, info, entry, rva);
      if (epilog !== null) {
        return {
          registers: changeRegisters(
            registers,
            epilog.general,
            epilog.programCounter,
            epilog.general[RSP] ?? 0n,
          ),
          how: "unwind",
        };
      }
    }
    if (!undo(memory, state, info, inside)) return { end: "no_memory" };
    if (state.machine !== null) {
      const { programCounter, stackPointer } = state.machine;
      state.general[RSP] = stackPointer;
      return {
        registers: changeRegisters(registers, state.general, programCounter, stackPointer, [
          ...state.missing,
        ]),
        how: "machine_frame",
      };
    }
    if (info.chained === null) {
      const stackPointer = state.general[RSP] ?? 0n;
      return returnFrom(
        memory,
        changeRegisters(registers, state.general, registers.programCounter, stackPointer, [...state.missing]),
        "unwind",
      );
    }
    entry = info.chained;
  }
  return { end: "unwind_damaged" };
}

function followIndirect(image: UnwindImage, entry: FunctionEntry): FunctionEntry | null {
  if ((entry.third & INDIRECT) === 0) return null;
  const raw = image.bytes.read(entry.third & ~INDIRECT, 12);
  return raw === undefined ? null : parseEntry(raw);
}

/** Undoes what the slots of one function say; false when memory is missing. */
function undo(memory: VirtualMemory, state: Unwinding, info: UnwindInfo, inside: number): boolean {
  const { general } = state;
  const frame = info.frameRegister;
  // The frame register is established once its slot has run: later in the prolog, and in the whole body.
  const framed = frame !== 0 && info.codes.some(({ op, prolog }) => op === "set_frame" && prolog <= inside);
  const base = framed ? (general[frame] ?? 0n) - BigInt(info.frameOffset) : general[RSP] ?? 0n;
  for (const code of info.codes) {
    if (code.prolog > inside) continue;
    const top = general[RSP] ?? 0n;
    switch (code.op) {
      case "push": {
        const value = memory.u64(top);
        if (value === undefined) return false;
        general[code.register] = value;
        state.missing.delete(code.register);
        general[RSP] = top + 8n;
        break;
      }
      case "allocate":
        general[RSP] = top + BigInt(code.amount);
        break;
      case "set_frame":
        general[RSP] = (general[frame] ?? 0n) - BigInt(info.frameOffset);
        break;
      case "save": {
        const value = memory.u64(base + BigInt(code.amount));
        if (value === undefined) return false;
        general[code.register] = value;
        state.missing.delete(code.register);
        break;
      }
      case "machine_frame": {
        const at = top + (code.amount === 0 ? 0n : 8n);
        const programCounter = memory.u64(at);
        const stackPointer = memory.u64(at + 0x18n);
        if (programCounter === undefined || stackPointer === undefined) return false;
        state.machine = { programCounter, stackPointer };
        return true;
      }
      case "skip":
        break;
    }
  }
  return true;
}

function returnFrom(memory: VirtualMemory, registers: RegisterContext, how: "leaf" | "unwind"): Step {
  const top = registers.stackPointer;
  if (top % 8n !== 0n) return { end: "misaligned" };
  const programCounter = memory.u64(top);
  if (programCounter === undefined) return { end: "no_memory" };
  const general = [...registers.general];
  general[RSP] = top + 8n;
  return { registers: changeRegisters(registers, general, programCounter, top + 8n), how };
}
