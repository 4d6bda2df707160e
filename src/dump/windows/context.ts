/** Register contexts of the three processors, from CONTEXT records and from trap frames. */

import type { VirtualMemory } from "../memory/virtual.ts";

/** Processors whose contexts are read. */
export type ContextMachine = "x64" | "x86" | "arm64";

/** The registers that a stack walk needs. Addresses of 32-bit processors are unsigned. */
export interface RegisterContext {
  readonly machine: ContextMachine;
  readonly contextFlags: number;
  /** General registers in the order of {@link REGISTER_NAMES}, which is the numbering of unwind data. */
  readonly general: readonly bigint[];
  readonly programCounter: bigint;
  readonly stackPointer: bigint;
  /** EFlags or CPSR. */
  readonly processorFlags: number;
  /** Numbers of the general registers that the source did not hold; their values are 0. */
  readonly missing: readonly number[];
}

/** Names of the general registers by number. The stack pointer of ARM64 is none of them. */
export const REGISTER_NAMES: Readonly<Record<ContextMachine, readonly string[]>> = {
  x64: words("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15"),
  x86: words("eax ecx edx ebx esp ebp esi edi"),
  arm64: [...Array.from({ length: 29 }, (_, index) => `x${index}`), "fp", "lr"],
};

/** Names of program counter, stack pointer and flags. */
const SPECIAL_NAMES: Readonly<Record<ContextMachine, readonly [string, string, string]>> = {
  x64: ["rip", "rsp", "efl"],
  x86: ["eip", "esp", "efl"],
  arm64: ["pc", "sp", "cpsr"],
};

interface ContextLayout {
  /** Bytes that are read of the record. */
  readonly size: number;
  readonly width: 4 | 8;
  /** The flag that says which processor the record is of. */
  readonly mark: number;
  readonly flags: number;
  /** Offsets of the general registers by number. */
  readonly general: readonly number[];
  readonly programCounter: number;
  readonly stackPointer: number;
  readonly processorFlags: number;
  /** Numbers of the registers that belong to the control part; the others are the integer part. */
  readonly control: readonly number[];
}

/** CONTEXT of each processor; offsets checked against the registers that the real debugger shows. */
const LAYOUTS: Readonly<Record<ContextMachine, ContextLayout>> = {
  x64: {
    size: 0x100,
    width: 8,
    mark: 0x0010_0000,
    flags: 0x30,
    general: Array.from({ length: 16 }, (_, index) => 0x78 + index * 8),
    programCounter: 0xF8,
    stackPointer: 0x98,
    processorFlags: 0x44,
    control: [4],
  },
  x86: {
    size: 0xCC,
    width: 4,
    mark: 0x0001_0000,
    flags: 0,
    general: [0xB0, 0xAC, 0xA8, 0xA4, 0xC4, 0xB4, 0xA0, 0x9C],
    programCounter: 0xB8,
    stackPointer: 0xC4,
    processorFlags: 0xC0,
    control: [4, 5],
  },
  arm64: {
    size: 0x110,
    width: 8,
    mark: 0x0040_0000,
    flags: 0,
    general: Array.from({ length: 31 }, (_, index) => 0x08 + index * 8),
    programCounter: 0x108,
    stackPointer: 0x100,
    processorFlags: 0x04,
    control: [29, 30],
  },
};

const CONTROL_PART = 1;
const INTEGER_PART = 2;

/** Bytes of a CONTEXT that are needed to read it. */
export function contextBytes(machine: ContextMachine): number {
  return LAYOUTS[machine].size;
}

/**
 * Reads a CONTEXT record. Null when it is too short, of another processor, or holds no program counter. Registers of
 * parts that its flags leave out are `missing`.
 */
export function parseContext(machine: ContextMachine, bytes: Uint8Array): RegisterContext | null {
  const layout = LAYOUTS[machine];
  if (bytes.length < layout.size) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const contextFlags = view.getUint32(layout.flags, true);
  if ((contextFlags & layout.mark) === 0 || (contextFlags & CONTROL_PART) === 0) return null;
  const word = (offset: number): bigint =>
    layout.width === 8 ? view.getBigUint64(offset, true) : BigInt(view.getUint32(offset, true));
  const missing = contextFlags & INTEGER_PART
    ? []
    : layout.general.map((_, number) => number).filter((number) => !layout.control.includes(number));
  return {
    machine,
    contextFlags,
    general: layout.general.map((offset, number) => missing.includes(number) ? 0n : word(offset)),
    programCounter: word(layout.programCounter),
    stackPointer: word(layout.stackPointer),
    processorFlags: view.getUint32(layout.processorFlags, true),
    missing,
  };
}

/** An address as wide as the processor's own; 32-bit code may run on a machine with wider ones. */
export function readPointer(
  memory: VirtualMemory,
  machine: ContextMachine,
  address: bigint,
): bigint | undefined {
  if (LAYOUTS[machine].width === 8) return memory.u64(address);
  const value = memory.u32(address);
  return value === undefined ? undefined : BigInt(value);
}

/** Reads a CONTEXT record in memory; null when any of it is missing or it is none. */
export function readContext(
  memory: VirtualMemory,
  machine: ContextMachine,
  address: bigint,
): RegisterContext | null {
  const bytes = memory.read(address, LAYOUTS[machine].size);
  return bytes === undefined ? null : parseContext(machine, bytes);
}

interface TrapFrameLayout {
  readonly size: number;
  /** Register numbers and their offsets; a register that is not here is not in the frame. */
  readonly general: readonly (readonly [number: number, offset: number])[];
  readonly programCounter: number;
  readonly processorFlags: number;
  /** Where the stack pointer is kept, when the processor pushed one. */
  readonly stackPointer: number;
}

/** KTRAP_FRAME of each processor, as the real debugger reads it. */
const TRAP_FRAMES: Readonly<Record<ContextMachine, TrapFrameLayout>> = {
  x64: {
    size: 0x190,
    general: [[0, 0x30], [1, 0x38], [2, 0x40], [8, 0x48], [9, 0x50], [10, 0x58], [11, 0x60], [5, 0x158]],
    programCounter: 0x168,
    processorFlags: 0x178,
    stackPointer: 0x180,
  },
  x86: {
    size: 0x8C,
    general: [[2, 0x3C], [1, 0x40], [0, 0x44], [7, 0x54], [6, 0x58], [3, 0x5C], [5, 0x60]],
    programCounter: 0x68,
    processorFlags: 0x70,
    stackPointer: 0x74,
  },
  arm64: {
    size: 0x150,
    general: [
      ...Array.from({ length: 19 }, (_, number): [number, number] => [number, 0xA0 + 8 * number]),
      [30, 0x138],
      [29, 0x140],
    ],
    programCounter: 0x148,
    processorFlags: 0x90,
    stackPointer: 0x98,
  },
};

/** Where a 32-bit trap frame keeps the code segment, whose low bits tell user mode from the kernel. */
const X86_SEGMENT = 0x6C;
/** Number of the stack pointer among the general registers; ARM64 keeps it apart. */
const STACK_POINTER: Readonly<Record<ContextMachine, number | null>> = { x64: 4, x86: 4, arm64: null };
const PRIVILEGE_BITS = 3;

/**
 * Reads a trap frame in memory. Registers that a trap does not save are `missing`: on 64-bit processors the
 * non-volatile ones but the frame pointer, which only unwinding brings back. Null when the frame is not in the dump.
 */
export function readTrapFrame(
  memory: VirtualMemory,
  machine: ContextMachine,
  address: bigint,
): RegisterContext | null {
  const layout = TRAP_FRAMES[machine];
  const bytes = memory.read(address, layout.size);
  if (bytes === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (offset: number): bigint =>
    LAYOUTS[machine].width === 8 ? view.getBigUint64(offset, true) : BigInt(view.getUint32(offset, true));
  // A 32-bit processor pushes no stack pointer when it stays in the kernel: the old stack begins right there.
  const stayed = machine === "x86" && (view.getUint16(X86_SEGMENT, true) & PRIVILEGE_BITS) === 0;
  const stackPointer = stayed ? address + BigInt(layout.stackPointer) : word(layout.stackPointer);
  const offsets = new Map(layout.general);
  const numbers = REGISTER_NAMES[machine].map((_, number) => number);
  const held = (number: number) => offsets.has(number) || number === STACK_POINTER[machine];
  return {
    machine,
    contextFlags: LAYOUTS[machine].mark | CONTROL_PART | INTEGER_PART,
    general: numbers.map((number) => {
      if (number === STACK_POINTER[machine]) return stackPointer;
      const offset = offsets.get(number);
      return offset === undefined ? 0n : word(offset);
    }),
    programCounter: word(layout.programCounter),
    stackPointer,
    processorFlags: view.getUint32(layout.processorFlags, true),
    missing: numbers.filter((number) => !held(number)),
  };
}

/** All registers that the context holds, by the names that debuggers use, in a fixed order. */
export function namedRegisters(context: RegisterContext): [name: string, value: bigint][] {
  const [programCounter, stackPointer, flags] = SPECIAL_NAMES[context.machine];
  const general = REGISTER_NAMES[context.machine]
    .map((name, number): [string, bigint] => [name, context.general[number] ?? 0n])
    .filter(([name], number) => !context.missing.includes(number) && name !== stackPointer);
  return [
    ...general,
    [stackPointer, context.stackPointer],
    [programCounter, context.programCounter],
    [flags, BigInt(context.processorFlags)],
  ];
}

function words(text: string): string[] {
  return text.split(" ");
}
