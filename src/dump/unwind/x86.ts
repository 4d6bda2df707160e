/** One step up a stack of x86, by the chain of saved frame pointers: 32-bit images have no unwind data. */

import type { VirtualMemory } from "../memory/virtual.ts";
import { readPointer, type RegisterContext } from "../windows/context.ts";
import { changeRegisters, type Step } from "./frame.ts";

const ESP = 4;
const EBP = 5;

/** The caller's registers; those other than esp and ebp are as they were, since nothing tells what became of them. */
export function stepX86(memory: VirtualMemory, registers: RegisterContext): Step {
  const frame = registers.general[EBP] ?? 0n;
  if (frame === 0n) return { end: "bottom" };
  if (frame % 4n !== 0n) return { end: "misaligned" };
  const next = readPointer(memory, "x86", frame);
  const programCounter = readPointer(memory, "x86", frame + 4n);
  if (next === undefined || programCounter === undefined) return { end: "no_memory" };
  const general = [...registers.general];
  general[EBP] = next;
  general[ESP] = frame + 8n;
  return { registers: changeRegisters(registers, general, programCounter, frame + 8n), how: "frame_pointer" };
}
