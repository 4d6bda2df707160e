/** What a reduced core keeps beside the pages that its readers asked for. */

import type { LinuxKernel } from "../kernel/kernel.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";

/** Stacks of tasks and of interrupts begin at a multiple of it. */
const STACK_BYTES = 16_384;
/** The kernels that this was tried on have a fifth of a MiB for each processor. */
const MOST_PROCESSOR_BYTES = 4 * 1024 * 1024;

/**
 * Touches what one look further needs: the whole stack and the whole structure of each task, the stack that each
 * processor stands on, its own variables, and the symbols of every module. A page that is not there is passed over.
 */
export function touchNeighbours(kernel: LinuxKernel): void {
  const { space } = kernel.memory;
  const tasks = kernel.tasks();
  const taskBytes = tasks.length === 0 ? 0 : kernel.types()?.size("task_struct") ?? 0;
  for (const { address, stackPointer } of tasks) {
    touch(space, address, taskBytes);
    touchStack(space, stackPointer);
  }
  for (const processor of kernel.processors()) {
    touchStack(space, processor.saved.context.stackPointer);
    touchVariables(kernel, processor.index);
  }
  for (const module of kernel.modules()) module.symbols();
}

function touchVariables(kernel: LinuxKernel, processor: number): void {
  const place = (name: string): bigint | null => kernel.symbols()?.addressOf(name) ?? null;
  const [offsets, start, end] = [
    place("__per_cpu_offset"),
    place("__per_cpu_start"),
    place("__per_cpu_end"),
  ];
  if (offsets === null || start === null || end === null) return;
  const offset = kernel.memory.space.u64(offsets + BigInt(8 * processor));
  const length = Number(end - start);
  if (offset === undefined || length <= 0 || length > MOST_PROCESSOR_BYTES) return;
  touch(kernel.memory.space, offset + start, length);
}

function touchStack(space: VirtualMemory, stackPointer: bigint): void {
  // A stack that is empty has its pointer at its end.
  touch(space, (stackPointer - 8n) & ~BigInt(STACK_BYTES - 1), STACK_BYTES);
}

function touch(space: VirtualMemory, address: bigint, length: number): void {
  if (length > 0) space.readParts(BigInt.asUintN(64, address), length);
}
