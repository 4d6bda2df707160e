/** Registers as the kernel and its dumps save them: `struct user_pt_regs` of ARM64. */

import type { RegisterContext } from "../../windows/context.ts";
import type { CoreMachine, SavedRegisters } from "./core_machine.ts";

/** Words of user_pt_regs: x0 to x30, sp, pc, pstate. */
const GENERAL_COUNT = 31;
const STACK_POINTER = 31;
const PROGRAM_COUNTER = 32;
const STATE = 33;

/** Bytes of a full set. */
export const ARM64_SAVED_BYTES = 8 * (STATE + 1);
/** Numbers of the frame pointer and of the link register. */
export const FRAME_POINTER = 29;
export const LINK_REGISTER = 30;

/** Bits of pstate that tell the exception level: 0 is that of programs. */
const LEVEL = 0xC;

/** Reads a full set from at least {@link ARM64_SAVED_BYTES} bytes. */
export function readArmRegisters(bytes: Uint8Array): SavedRegisters {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (number: number) => view.getBigUint64(8 * number, true);
  const processorFlags = view.getUint32(8 * STATE, true);
  return {
    context: {
      machine: "arm64",
      contextFlags: 0,
      general: Array.from({ length: GENERAL_COUNT }, (_, number) => word(number)),
      programCounter: word(PROGRAM_COUNTER),
      stackPointer: word(STACK_POINTER),
      processorFlags,
      missing: [],
    },
    isUser: (processorFlags & LEVEL) === 0,
  };
}

/** The registers of a frame of which only the stack and the frame pointer are known. */
export function armFrameRegisters(
  programCounter: bigint,
  stackPointer: bigint,
  framePointer: bigint,
): RegisterContext {
  const general = Array.from({ length: GENERAL_COUNT }, () => 0n);
  general[FRAME_POINTER] = framePointer;
  return {
    machine: "arm64",
    contextFlags: 0,
    general,
    programCounter,
    stackPointer,
    processorFlags: 0,
    missing: general.map((_, number) => number).filter((number) => number !== FRAME_POINTER),
  };
}

/** ARM64 as containers know it. */
export const ARM64_MACHINE: CoreMachine = {
  name: "arm64",
  elfNumber: 183,
  registerBytes: ARM64_SAVED_BYTES,
  readRegisters: readArmRegisters,
  noteBytes: 392,
};
