/**
 * Walks ARM64 kernel stacks by frame records: x29 leads to a pair of the caller's x29 and the address to return to. The
 * kernel writes one for what an exception or interrupt cut off as well, inside the registers that it saves.
 */

import { HvError } from "../../../base/errors.ts";
import type { Frame, WalkEnd } from "../../unwind/frame.ts";
import { MAXIMUM_FRAMES, type Walk } from "../../unwind/walk.ts";
import type { RegisterContext } from "../../windows/context.ts";
import type { SavedRegisters } from "../architecture/core_machine.ts";
import {
  ARM64_SAVED_BYTES,
  armFrameRegisters,
  FRAME_POINTER,
  LINK_REGISTER,
  readArmRegisters,
} from "../architecture/arm64_registers.ts";
import type { Btf } from "../kernel/btf.ts";
import type { CodeMap } from "../kernel/code_map.ts";
import type { KernelMemory } from "../kernel/kernel_memory.ts";

/** What a walk needs beside the registers to start from. */
export interface RecordGround {
  readonly memory: KernelMemory;
  /** Null for a kernel without; then the modules are not known either. */
  readonly types: Btf | null;
  readonly code: CodeMap;
  /** Bits of a return address that hold its signature (pointer authentication). */
  readonly signature: bigint;
}

type Step =
  | { readonly frame: Frame; readonly end?: undefined }
  | { readonly end: WalkEnd };

const RECORD_BYTES = 16;
/** Bits that the address of a record never has. */
const ALIGNMENT = 7n;
/** Where the saved registers keep their record in kernels of 5.10 to 6.12, for those without types. */
const RECORD_IN_REGISTERS = 304;
/** Since Linux 6.13 an empty record says by a word behind it what it stands for. */
const SAVED_REGISTERS = 2n;
/** A set bit says that the address is of the kernel's half. */
const KERNEL_BIT = 1n << 55n;
/** BPF programs are in no module; two addresses in a row that are no code are no stack any more. */
const MOST_STRANGERS = 1;

/**
 * Walks from registers up to where the task entered the kernel. `machine_frame` marks what an interrupt or exception cut
 * off, `leaf` a caller that only the link register tells, since the function called by it keeps no record.
 */
export function walkFrameRecords(ground: RecordGround, start: RegisterContext, exact = true): Walk {
  const { programCounter: address, stackPointer } = start;
  const frames: Frame[] = [{ address, stackPointer, how: "context", exact, registers: start }];
  const seen = new Set<string>();
  let strangers = 0;
  for (let last = frames[0]; last !== undefined; last = frames.at(-1)) {
    if (frames.length > MAXIMUM_FRAMES) return { frames, end: "limit" };
    const place = `${last.address}:${last.registers.general[FRAME_POINTER]}`;
    if (seen.has(place)) return { frames: frames.slice(0, -1), end: "not_advancing" };
    seen.add(place);
    strangers = ground.code.isCode(last.address) ? 0 : strangers + 1;
    if (strangers > MOST_STRANGERS && ground.types !== null) return { frames, end: "no_module" };
    const step = takeStep(ground, last);
    if (step.end !== undefined) return { frames, end: step.end };
    frames.push(step.frame);
  }
  return { frames, end: "bottom" };
}

function takeStep(ground: RecordGround, last: Frame): Step {
  try {
    const pointer = last.registers.general[FRAME_POINTER] ?? 0n;
    const record = isOutermost(last, pointer) ? null : readRecord(ground, pointer);
    const leaf = last.exact ? callerByLink(ground, last, record?.address ?? 0n) : null;
    if (leaf !== null) return called(leaf, last.stackPointer, pointer, "leaf");
    if (record === null) return { end: "bottom" };
    if ((pointer & ALIGNMENT) !== 0n) return { end: "misaligned" };
    const saved = savedAround(ground, pointer, record);
    if (saved !== null) return interrupted(saved.context);
    if (record.address === 0n) return { end: "bottom" };
    return called(record.address, pointer + BigInt(RECORD_BYTES), record.pointer, "frame_pointer");
  } catch (thrown) {
    if (!(thrown instanceof HvError) || thrown.code !== "hv.bad_dump") throw thrown;
    return { end: "no_memory" };
  }
}

/** Whether nothing called the frame: there is no record, or the kernel was entered this moment and x29 is the program's. */
function isOutermost({ how }: Frame, pointer: bigint): boolean {
  return pointer === 0n || how === "context" && (pointer & KERNEL_BIT) === 0n;
}

/** A frame record, its address as it was called. */
interface FrameRecord {
  readonly pointer: bigint;
  readonly address: bigint;
  readonly signed: bigint;
}

function readRecord({ memory, signature }: RecordGround, pointer: bigint): FrameRecord {
  const view = memory.view(pointer, RECORD_BYTES, "a frame record");
  const signed = view.getBigUint64(8, true);
  return { pointer: view.getBigUint64(0, true), address: withoutSignature(signed, signature), signed };
}

function withoutSignature(address: bigint, signature: bigint): bigint {
  return (address & KERNEL_BIT) === 0n ? address : address | signature;
}

/**
 * The caller by the link register, when neither the record nor the function itself has it: a function that calls nothing
 * keeps no record, and once it has called something the register points into it.
 */
function callerByLink(
  { code, signature }: RecordGround,
  { address, registers }: Frame,
  returnsTo: bigint,
): bigint | null {
  if (registers.missing.includes(LINK_REGISTER)) return null;
  const caller = withoutSignature(registers.general[LINK_REGISTER] ?? 0n, signature);
  if (caller === returnsTo || !code.isCode(caller - 1n)) return null;
  return startOf(code, caller, false) === startOf(code, address, true) ? null : caller;
}

function startOf(code: CodeMap, address: bigint, exact: boolean): bigint | null {
  const { symbol } = code.locate(address, exact);
  return symbol === null ? null : address - BigInt(symbol.offset);
}

/** The registers that a record lies in; null for one that a function wrote. */
function savedAround(ground: RecordGround, pointer: bigint, record: FrameRecord): SavedRegisters | null {
  const { memory, types } = ground;
  const inside = types?.place("pt_regs.stackframe")?.offset ?? RECORD_IN_REGISTERS;
  const bytes = memory.space.read(pointer - BigInt(inside), ARM64_SAVED_BYTES);
  if (bytes === undefined) return null;
  const saved = readArmRegisters(bytes);
  if (saved.isUser) return null;
  const kind = types?.place("pt_regs.stackframe.type");
  if (kind !== undefined && kind !== null) {
    const says = memory.space.u64(pointer + BigInt(kind.offset - inside));
    return record.pointer === 0n && record.signed === 0n && says === SAVED_REGISTERS ? saved : null;
  }
  const { programCounter, general } = saved.context;
  const isEmpty = record.pointer === 0n && record.signed === 0n;
  const agrees = record.signed === programCounter && record.pointer === general[FRAME_POINTER];
  return agrees && !isEmpty ? saved : null;
}

function called(address: bigint, stackPointer: bigint, framePointer: bigint, how: Frame["how"]): Step {
  const registers = armFrameRegisters(address, stackPointer, framePointer);
  return { frame: { address, stackPointer, how, exact: false, registers } };
}

function interrupted(registers: RegisterContext): Step {
  const { programCounter: address, stackPointer } = registers;
  return { frame: { address, stackPointer, how: "machine_frame", exact: true, registers } };
}
