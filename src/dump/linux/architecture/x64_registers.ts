/** Registers as the kernel and its dumps save them: `struct pt_regs` of x86-64. */

import type { RegisterContext } from "../../windows/context.ts";
import type { CoreMachine, SavedRegisters } from "./core_machine.ts";

/** Bytes of a full set. */
export const SAVED_REGISTERS_BYTES = 168;
/** Bytes of what the processor itself pushes: ip, cs, flags, sp, ss. */
export const HARDWARE_FRAME_BYTES = 40;

/** Bits of the code segment that are 0 in the kernel. */
const PRIVILEGE = 3;
/** Words of pt_regs: r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss. */
const IP = 16;
/** Where each general register stands, in the numbering of contexts: ax cx dx bx sp bp si di r8 to r15. */
const GENERAL_WORDS = [10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0] as const;
/** Numbers of the general registers by name. */
export const GENERAL = { ax: 0, dx: 2, sp: 4, bp: 5, di: 7, r10: 10, r13: 13 } as const;

/** Reads a full set from at least {@link SAVED_REGISTERS_BYTES} bytes. */
export function readSavedRegisters(bytes: Uint8Array): SavedRegisters {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const general = GENERAL_WORDS.map((word) => view.getBigUint64(word * 8, true));
  return savedRegisters(view, IP * 8, general, []);
}

/** Reads what the processor pushed; of the general registers only sp and, from the unwinder, bp are known then. */
export function readHardwareFrame(bytes: Uint8Array, framePointer: bigint): SavedRegisters {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const general = GENERAL_WORDS.map(() => 0n);
  general[GENERAL.sp] = view.getBigUint64(24, true);
  general[GENERAL.bp] = framePointer;
  const missing = general.map((_, number) => number).filter((number) =>
    number !== GENERAL.sp && number !== GENERAL.bp
  );
  return savedRegisters(view, 0, general, missing);
}

/** The registers of a frame of which only the stack and the frame pointer are known. */
export function frameRegisters(
  programCounter: bigint,
  stackPointer: bigint,
  framePointer: bigint,
): RegisterContext {
  const general = GENERAL_WORDS.map(() => 0n);
  general[GENERAL.sp] = stackPointer;
  general[GENERAL.bp] = framePointer;
  return {
    machine: "x64",
    contextFlags: 0,
    general,
    programCounter,
    stackPointer,
    processorFlags: 0,
    missing: general.map((_, number) => number).filter((number) =>
      number !== GENERAL.sp && number !== GENERAL.bp
    ),
  };
}

function savedRegisters(
  view: DataView,
  ip: number,
  general: readonly bigint[],
  missing: readonly number[],
): SavedRegisters {
  return {
    context: {
      machine: "x64",
      contextFlags: 0,
      general,
      programCounter: view.getBigUint64(ip, true),
      stackPointer: view.getBigUint64(ip + 24, true),
      processorFlags: view.getUint32(ip + 16, true),
      missing,
    },
    isUser: (view.getUint16(ip + 8, true) & PRIVILEGE) !== 0,
  };
}

/** x86-64 as containers know it. */
export const X64_MACHINE: CoreMachine = {
  name: "x64",
  elfNumber: 62,
  registerBytes: SAVED_REGISTERS_BYTES,
  readRegisters: readSavedRegisters,
  noteBytes: 336,
};
