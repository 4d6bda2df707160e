/** Frames of a stack, and the registers that lead from one to the next. */

import type { RegisterContext } from "../windows/context.ts";
import type { ImageBytes } from "../pe/image.ts";

/** How a frame was found, surest first. */
export type FrameHow =
  /** Registers that the dump recorded. */
  | "context"
  /** The image's unwind data. */
  | "unwind"
  /** A function without unwind data calls nothing: the return address is on top of the stack (x64) or in lr. */
  | "leaf"
  /** What the processor or the kernel saved at an interrupt or exception. */
  | "machine_frame"
  /** The chain of saved frame pointers. */
  | "frame_pointer";

/** One frame. */
export interface Frame {
  /** Where the frame's code goes on: its program counter or return address. */
  readonly address: bigint;
  /** The stack pointer inside the frame. */
  readonly stackPointer: bigint;
  readonly how: FrameHow;
  /** Whether the address was interrupted and not returned to: it is looked up as it stands, not minus one. */
  readonly exact: boolean;
  readonly registers: RegisterContext;
}

/** Why a walk ended. */
export type WalkEnd =
  /** The first function of the thread: nothing called it. */
  | "bottom"
  /** The address is in no image. */
  | "no_module"
  /** The image's unwind data is neither in the dump nor in a symbol store. */
  | "no_unwind_data"
  /** A piece of stack is not in the dump. */
  | "no_memory"
  /** The next frame would lie on or above this one. */
  | "not_advancing"
  /** A stack pointer that no call leaves behind. */
  | "misaligned"
  /** Unwind data of a form that is not understood. */
  | "unwind_version"
  /** Unwind data that contradicts itself. */
  | "unwind_damaged"
  /** The most frames that are walked. */
  | "limit";

/** A function as an image's table of functions describes it. */
export interface UnwindImage {
  readonly base: bigint;
  readonly size: number;
  /** Whether its header names another processor than the dump's: its table of functions is of another form. */
  readonly foreign: boolean;
  readonly bytes: ImageBytes;
  /** Where the table of functions lies; null when it is not known, `"none"` when the image has none. */
  readonly functions: { readonly rva: number; readonly size: number } | "none" | null;
  /** Entries that were found elsewhere, when the table itself is missing. */
  readonly spare: ReadonlyMap<number, Uint8Array>;
}

/** What one step gives: the caller's registers and how, or why there is none. */
export type Step =
  | { readonly registers: RegisterContext; readonly how: FrameHow; readonly end?: undefined }
  | { readonly end: WalkEnd };

/** The same registers with some of them changed. */
export function changeRegisters(
  registers: RegisterContext,
  general: readonly bigint[],
  programCounter: bigint,
  stackPointer: bigint,
  missing: readonly number[] = registers.missing,
): RegisterContext {
  return { ...registers, general, programCounter, stackPointer, missing };
}
