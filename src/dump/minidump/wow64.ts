/** The 32-bit side of a thread in a process of 64-bit Windows: the registers with which it left 32-bit code. */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { ModuleList } from "../modules.ts";
import { contextBytes, parseContext, type RegisterContext } from "../windows/context.ts";

/** Why the registers of a 32-bit side cannot be told: their place is not in the dump, or holds no registers. */
export type Wow64Absence = "no_memory" | "no_context";

/** The library that every such process has, and no other. */
const LAYER = "wow64.dll";
/** Slot 1 of the thread's local storage in its 64-bit environment block. */
const SLOT = 0x1480n + 8n;
/** Where the context lies in what the slot points to, as the documentation of WOW64_CONTEXT says. */
const CONTEXT = 4n;

/** Whether a process of 64-bit Windows runs 32-bit code. */
export function hasWow64(modules: ModuleList): boolean {
  return modules.all.some(({ name }) => name.toLowerCase() === LAYER);
}

/** Registers of the 32-bit side as the thread last left it, found through its 64-bit environment block. */
export function readWow64Context(memory: VirtualMemory, teb: bigint): RegisterContext | Wow64Absence {
  const area = memory.u64(teb + SLOT);
  const bytes = area === undefined ? undefined : memory.read(area + CONTEXT, contextBytes("x86"));
  return bytes === undefined ? "no_memory" : parseContext("x86", bytes) ?? "no_context";
}

/** The code segment in a CONTEXT of x64, and its value while 32-bit code runs. */
const CODE_SEGMENT = 0x38;
const SEGMENT_OF_32_BIT_CODE = 0x23;
const GENERAL_OF_X86 = 8;

/** A context of x64 that was recorded in 32-bit code as what it is: one of x86. */
export function narrowContext(context: RegisterContext, bytes: Uint8Array): RegisterContext {
  const segment = (bytes[CODE_SEGMENT] ?? 0) | ((bytes[CODE_SEGMENT + 1] ?? 0) << 8);
  if (context.machine !== "x64" || segment !== SEGMENT_OF_32_BIT_CODE) return context;
  const narrow = (value: bigint) => BigInt.asUintN(32, value);
  return {
    ...context,
    machine: "x86",
    // The numbers of the first eight are those of the 32-bit registers that they extend.
    general: context.general.slice(0, GENERAL_OF_X86).map(narrow),
    programCounter: narrow(context.programCounter),
    stackPointer: narrow(context.stackPointer),
    missing: context.missing.filter((number) => number < GENERAL_OF_X86),
  };
}
