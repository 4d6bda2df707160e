/** The task that a processor runs. */

import type { CurrentPointer } from "../architecture/architecture.ts";
import type { Btf } from "./btf.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import type { KernelSymbols } from "./symbol_table.ts";
import type { KernelTask } from "./tasks.ts";

/** What leads to it. */
export interface CurrentTaskGround {
  readonly memory: KernelMemory;
  readonly symbols: KernelSymbols;
  readonly types: Btf;
  /** Variables of each processor that lead to its task. */
  readonly pointers: readonly CurrentPointer[];
}

/**
 * Address of the task by the variable that the kernel keeps of it; null when it names none, or has not filled it yet. Fails
 * with `hv.bad_dump` (`missing_memory`).
 */
export function currentTaskAddress(ground: CurrentTaskGround, processor: number): bigint | null {
  const { memory, symbols } = ground;
  const offsets = symbols.addressOf("__per_cpu_offset");
  const place = currentPointer(ground);
  if (offsets === null || place === null) return null;
  const offset = memory.u64(offsets + BigInt(8 * processor), "the memory of a processor");
  const task = memory.u64(BigInt.asUintN(64, offset + place), "the current task");
  return task === 0n ? null : task;
}

/** Where, in a processor's own memory, the pointer to its task lies. */
function currentPointer({ symbols, types, pointers }: CurrentTaskGround): bigint | null {
  for (const { symbol, member } of pointers) {
    const variable = symbols.addressOf(symbol);
    const inside = member === null ? 0 : types.place(member)?.offset;
    if (variable !== null && inside !== undefined) return variable + BigInt(inside);
  }
  return null;
}

/** The task whose stack of `size` bytes an address lies in; null when none says so. */
export function ownerOfStack(
  tasks: readonly KernelTask[],
  stackPointer: bigint,
  size: number,
): KernelTask | null {
  // A stack that is empty has its pointer at its end.
  const isOn = ({ stack }: KernelTask) =>
    stack !== null && stackPointer > stack && stackPointer <= stack + BigInt(size);
  return tasks.find(isOn) ?? null;
}
