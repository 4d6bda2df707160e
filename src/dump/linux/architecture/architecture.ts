/**
 * What differs from processor to processor for a reader of Linux kernels, as data and functions: nothing else asks
 * which processor a core is of. What the container of a core needs to know is in `core_machine.ts`.
 */

import type { PhysicalMemory } from "../../memory/physical.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";
import type { Walk } from "../../unwind/walk.ts";
import type { RegisterContext } from "../../windows/context.ts";
import type { Btf } from "../kernel/btf.ts";
import type { CodeMap } from "../kernel/code_map.ts";
import type { KernelMemory } from "../kernel/kernel_memory.ts";
import type { KernelModule } from "../kernel/modules.ts";
import type { KernelSymbols } from "../kernel/symbol_table.ts";
import type { KernelTask } from "../kernel/tasks.ts";
import type { Vmcoreinfo } from "../kernel/vmcoreinfo.ts";

/** What stacks are walked by. */
export interface UnwindSources {
  readonly memory: KernelMemory;
  readonly info: Vmcoreinfo;
  /** Null for a kernel without. */
  readonly types: Btf | null;
  readonly symbols: KernelSymbols;
  readonly modules: readonly KernelModule[];
  readonly code: CodeMap;
}

/** Walks a stack from registers; `exact` tells whether they were interrupted and not returned to. */
export type StackWalk = (start: RegisterContext, exact: boolean) => Walk;

/** A variable of each processor that leads to its task. */
export interface CurrentPointer {
  readonly symbol: string;
  /** The member of it that is the pointer, by its type; null when the variable itself is. */
  readonly member: string | null;
}

/** How the kernels of one kind of processor are read. */
export interface LinuxArchitecture {
  /** The kernel's half of memory. Fails with `hv.bad_dump` (`vmcoreinfo`) when the way to its page tables is not stated. */
  readonly openSpace: (physical: PhysicalMemory, info: Vmcoreinfo) => VirtualMemory;
  /** Fails with `hv.bad_dump` when what the stacks are walked by is damaged. */
  readonly openWalk: (sources: UnwindSources) => StackWalk;
  /** Where `task_struct` keeps the stack pointer of a task that is off the processor. */
  readonly taskStackPointer: string;
  /** With which registers such a task goes on; null when they are not in the dump. */
  readonly resume: (memory: KernelMemory, types: Btf, task: KernelTask) => RegisterContext | null;
  /**
   * Whether the kernel's own traces look a return address up at its call. Where not, a call that ends a function is
   * printed as the beginning of the next one.
   */
  readonly printsCalls: boolean;
  /** The first that the kernel has. */
  readonly currentTask: readonly CurrentPointer[];
}
