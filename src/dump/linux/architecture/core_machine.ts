/** What the container of a core has to know of the processor that it is of. */

import type { RegisterContext } from "../../windows/context.ts";

/** Registers of an interrupted place, and whose code that was. */
export interface SavedRegisters {
  readonly context: RegisterContext;
  /** Whether a program was interrupted: its stack is no concern of the kernel. */
  readonly isUser: boolean;
}

/** One kind of processor. */
export interface CoreMachine {
  readonly name: "x64" | "arm64";
  /** `e_machine` of its ELF files. */
  readonly elfNumber: number;
  /** Bytes of the registers in a note, which are those that the kernel saves on its stacks. */
  readonly registerBytes: number;
  /** Reads a full set from at least that many bytes. */
  readonly readRegisters: (bytes: Uint8Array) => SavedRegisters;
  /** Bytes of the whole note that holds them. */
  readonly noteBytes: number;
}
