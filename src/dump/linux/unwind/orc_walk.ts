/** Walks kernel stacks by ORC: through calls, interrupts, exceptions and from one stack to another. */

import { HvError } from "../../../base/errors.ts";
import type { Frame, WalkEnd } from "../../unwind/frame.ts";
import { MAXIMUM_FRAMES, type Walk } from "../../unwind/walk.ts";
import type { RegisterContext } from "../../windows/context.ts";
import type { SavedRegisters } from "../architecture/core_machine.ts";
import {
  frameRegisters,
  GENERAL,
  HARDWARE_FRAME_BYTES,
  readHardwareFrame,
  readSavedRegisters,
  SAVED_REGISTERS_BYTES,
} from "../architecture/x64_registers.ts";
import type { KernelMemory } from "../kernel/kernel_memory.ts";
import type { OrcRow } from "./orc_format.ts";
import type { OrcTables } from "./orc_tables.ts";

/** What a walk needs beside the registers to start from. */
export interface OrcGround {
  readonly memory: KernelMemory;
  readonly tables: OrcTables;
  /** Whether an address is one of code of the kernel or a module. */
  readonly isCode: (address: bigint) => boolean;
  /** Whether the modules are known, so that what is in none of them is no code. */
  readonly knowsModules: boolean;
}

type Step =
  | { readonly frame: Frame; readonly end?: undefined }
  | { readonly end: WalkEnd };

/**
 * Walks from registers up to where the task entered the kernel. `machine_frame` marks what an interrupt or exception cut
 * off, `leaf` the caller of a jump into nowhere, `frame_pointer` a guess where there are no rows.
 */
export function walkOrc(ground: OrcGround, start: RegisterContext, exact = true): Walk {
  const frames: Frame[] = [
    {
      address: start.programCounter,
      stackPointer: start.stackPointer,
      how: "context",
      exact,
      registers: start,
    },
  ];
  const seen = new Set<string>();
  for (let last = frames[0]; last !== undefined; last = frames.at(-1)) {
    if (frames.length > MAXIMUM_FRAMES) return { frames, end: "limit" };
    const place = `${last.address}:${last.stackPointer}`;
    if (seen.has(place)) return { frames: frames.slice(0, -1), end: "not_advancing" };
    seen.add(place);
    const step = takeStep(ground, last);
    if (step.end !== undefined) return { frames, end: step.end };
    frames.push(step.frame);
  }
  return { frames, end: "bottom" };
}

function takeStep(ground: OrcGround, last: Frame): Step {
  try {
    if (!ground.isCode(last.address)) return fromNowhere(ground, last);
    const row = ground.tables.rowAt(last.exact ? last.address : last.address - 1n);
    return row === null ? byFramePointer(ground, last) : byRow(ground, last, row);
  } catch (thrown) {
    if (!(thrown instanceof HvError) || thrown.code !== "hv.bad_dump") throw thrown;
    return { end: thrown.context["reason"] === "orc" ? "unwind_damaged" : "no_memory" };
  }
}

/** A jump to no code was a call: its return address is on top of the stack, and nothing else was done. */
function fromNowhere({ memory, knowsModules }: OrcGround, last: Frame): Step {
  if (!last.exact || !knowsModules) return { end: "no_module" };
  const { stackPointer, general } = last.registers;
  const address = memory.u64(stackPointer, "a return address");
  return called(address, stackPointer + 8n, general[GENERAL.bp] ?? 0n, "leaf");
}

/** Trampolines and BPF programs have no rows; they keep frame pointers. */
function byFramePointer({ memory }: OrcGround, last: Frame): Step {
  const pointer = last.registers.general[GENERAL.bp] ?? 0n;
  const address = memory.u64(pointer + 8n, "a return address");
  return called(address, pointer + 16n, memory.u64(pointer, "a frame pointer"), "frame_pointer");
}

function byRow(ground: OrcGround, last: Frame, row: OrcRow): Step {
  if (row.type === "end") return { end: "bottom" };
  if (row.type === "undefined") return { end: "no_unwind_data" };
  const { memory } = ground;
  const base = frameBase(memory, last.registers, row);
  if (base === null) return { end: "no_unwind_data" };
  if (row.type === "call") {
    const address = memory.u64(base - 8n, "a return address");
    return called(address, base, framePointer(memory, last.registers, row, base), "unwind");
  }
  const saved = row.type === "regs"
    ? readSavedRegisters(memory.bytes(base, SAVED_REGISTERS_BYTES, "saved registers"))
    : readHardwareFrame(
      memory.bytes(base, HARDWARE_FRAME_BYTES, "saved registers"),
      framePointer(memory, last.registers, row, base),
    );
  return interrupted(saved);
}

function called(address: bigint, stackPointer: bigint, framePointer: bigint, how: Frame["how"]): Step {
  if (address === 0n) return { end: "bottom" };
  const registers = frameRegisters(address, stackPointer, framePointer);
  return { frame: { address, stackPointer, how, exact: false, registers } };
}

/** What was interrupted in user mode lies on a stack that no kernel table describes: there the kernel was entered. */
function interrupted({ isUser, context }: SavedRegisters): Step {
  if (isUser) return { end: "bottom" };
  const { programCounter: address, stackPointer } = context;
  return { frame: { address, stackPointer, how: "machine_frame", exact: true, registers: context } };
}

/** The address that a row computes; null when it needs a register that this frame does not know. */
function frameBase(memory: KernelMemory, { general, missing }: RegisterContext, row: OrcRow): bigint | null {
  const offset = BigInt(row.spOffset);
  const known = (number: number) => missing.includes(number) ? null : general[number] ?? null;
  const sp = general[GENERAL.sp] ?? 0n;
  const bp = general[GENERAL.bp] ?? 0n;
  switch (row.spRegister) {
    case "sp":
      return wrap(sp + offset);
    case "bp":
      return wrap(bp + offset);
    case "[sp]":
      return wrap(memory.u64(sp, "a saved stack pointer") + offset);
    case "[bp]":
      return memory.u64(wrap(bp + offset), "a saved stack pointer");
    case "r10":
    case "r13":
    case "di":
    case "dx":
    case "ax":
      return known(GENERAL[row.spRegister]);
    case "none":
    case "prev_sp":
      return null;
  }
}

function framePointer(memory: KernelMemory, { general }: RegisterContext, row: OrcRow, base: bigint): bigint {
  const bp = general[GENERAL.bp] ?? 0n;
  const offset = BigInt(row.bpOffset);
  if (row.bpRegister === "prev_sp") return memory.u64(wrap(base + offset), "a saved frame pointer");
  if (row.bpRegister === "bp") return memory.u64(wrap(bp + offset), "a saved frame pointer");
  return bp;
}

function wrap(address: bigint): bigint {
  return BigInt.asUintN(64, address);
}
