/** Walks a stack from a context up to the first function of the thread. */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { RegisterContext } from "../windows/context.ts";
import { followFramePointer, stepArm64 } from "./arm64.ts";
import type { Frame, Step, UnwindImage, WalkEnd } from "./frame.ts";
import { stepX64 } from "./x64.ts";
import { stepX86 } from "./x86.ts";

/** Frames that are walked at most. */
export const MAXIMUM_FRAMES = 256;

/** What a walk needs beside the registers to start from. */
export interface WalkGround {
  readonly memory: VirtualMemory;
  /** The image that an address lies in; null when it is in none. It may have to be looked for in a symbol store. */
  readonly imageAt: (address: bigint) => Promise<UnwindImage | null>;
}

/** A stack and why it ends. */
export interface Walk {
  readonly frames: readonly Frame[];
  readonly end: WalkEnd;
}

/**
 * Walks the stack. Every frame is of the dump's own memory and data: nothing is guessed, and a walk that cannot go
 * on says why. Ends after {@link MAXIMUM_FRAMES} and where the stack does not rise.
 */
export async function walkStack(ground: WalkGround, start: RegisterContext): Promise<Walk> {
  const frames: Frame[] = [
    {
      address: start.programCounter,
      stackPointer: start.stackPointer,
      how: "context",
      exact: true,
      registers: start,
    },
  ];
  const seen = new Set([placeOf(start)]);
  for (let last = frames[0]; last !== undefined; last = frames.at(-1)) {
    if (frames.length >= MAXIMUM_FRAMES) return { frames, end: "limit" };
    const step = await takeStep(ground, last);
    if (step.end !== undefined) return { frames, end: step.end };
    const { registers, how } = step;
    if (registers.programCounter === 0n) return { frames, end: "bottom" };
    if (!rises(last, registers, how) || seen.has(placeOf(registers))) return { frames, end: "not_advancing" };
    seen.add(placeOf(registers));
    frames.push({
      address: registers.programCounter,
      stackPointer: registers.stackPointer,
      how,
      exact: how === "machine_frame",
      registers,
    });
  }
  return { frames, end: "bottom" };
}

async function takeStep({ memory, imageAt }: WalkGround, { registers, exact }: Frame): Promise<Step> {
  const { machine, programCounter } = registers;
  if (machine === "x86") return stepX86(memory, registers);
  const image = await imageAt(exact ? programCounter : programCounter - 1n);
  if (image?.foreign === true) return { end: "unwind_version" };
  if (machine === "x64") return stepX64(memory, image, registers, exact);
  const step = stepArm64(memory, image, registers, exact);
  return step.end === "no_unwind_data" ? followFramePointer(memory, registers) : step;
}

/** A caller's frame lies above its callee's; only ARM64's leaves take no stack, and interrupts change stacks. */
function rises(last: Frame, next: RegisterContext, how: Frame["how"]): boolean {
  if (how === "machine_frame") return true;
  if (next.machine === "arm64") {
    return next.stackPointer > last.stackPointer || (last.exact && next.stackPointer === last.stackPointer);
  }
  return next.stackPointer > last.stackPointer;
}

function placeOf({ programCounter, stackPointer }: RegisterContext): string {
  return `${programCounter}:${stackPointer}`;
}
