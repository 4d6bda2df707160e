/** A crashed Linux kernel, opened: each part is read when it is first asked for, and costs only itself when it is lost. */

import type { DumpWarning } from "../../reasons.ts";
import { once } from "../../../base/once.ts";
import type { Walk } from "../../unwind/walk.ts";
import type { RegisterContext } from "../../windows/context.ts";
import type { LinuxCore } from "../containers/core.ts";
import type { LinuxArchitecture, StackWalk } from "../architecture/architecture.ts";
import { architectureOf } from "../architecture/known.ts";
import type { CoreProcessor } from "../containers/processor_notes.ts";
import { Btf } from "./btf.ts";
import { CodeMap, type LinuxPlace } from "./code_map.ts";
import { currentTaskAddress, ownerOfStack } from "./current_task.ts";
import { type Kallsyms, openKallsyms } from "./kallsyms.ts";
import { readKernelLog } from "./kernel_log.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import type { KernelLog } from "./log_record.ts";
import { lostPart } from "./lost_part.ts";
import { type AddressRange, type KernelModule, readModules } from "./modules.ts";
import { type NamelessData, searchData, searchTypes } from "./nameless_data.ts";
import { openKernelMemory } from "./open_memory.ts";
import { type Taint, taintOfMask } from "./taint.ts";
import type { KernelSymbols } from "./symbol_table.ts";
import { type KernelTask, TaskReader } from "./tasks.ts";
import { findVmcoreinfo, type Vmcoreinfo } from "./vmcoreinfo.ts";

const MOST_PROCESSORS = 8192;
/** The data of an image, and how far it goes on behind the last variable that VMCOREINFO names. */
const LARGEST_DATA = 64n * 1024n * 1024n;
const BEHIND_LAST_SYMBOL = 1024n * 1024n;
/** A task's stack has this size, or that of the largest page where that is the machine's. */
const SMALLEST_STACK = 16_384;
const LARGEST_PAGE = 65_536;

/** One processor of the machine. */
export interface LinuxProcessor extends CoreProcessor {
  readonly index: number;
  /** The task that it ran; null when that cannot be told. */
  readonly task: () => KernelTask | null;
}

/** An opened kernel. */
export class LinuxKernel {
  readonly core: LinuxCore;
  readonly architecture: LinuxArchitecture;
  readonly info: Vmcoreinfo;
  readonly memory: KernelMemory;
  readonly #warnings: DumpWarning[] = [];
  readonly #given: ((info: Vmcoreinfo) => KernelSymbols) | null;

  /** `given` reads symbols that the user has, for a kernel whose own are lost. Fails with `hv.bad_dump` (`vmcoreinfo`) when not even the way into the memory is there. */
  constructor(core: LinuxCore, given: ((info: Vmcoreinfo) => KernelSymbols) | null = null) {
    this.core = core;
    this.architecture = architectureOf(core.machine);
    this.#given = given;
    this.info = findVmcoreinfo(core);
    this.memory = openKernelMemory(core, this.info);
  }

  /** What was found damaged or missing so far; it grows while more is read. */
  get warnings(): readonly DumpWarning[] {
    return [...this.core.warnings, ...this.#warnings];
  }

  /** Bytes of a task's stack, which begins at a multiple of it. */
  get stackBytes(): number {
    return this.info.pageSize === LARGEST_PAGE ? LARGEST_PAGE : SMALLEST_STACK;
  }

  /** Null when it cannot be read; so with all parts below. */
  readonly log = once((): KernelLog | null => this.#part(() => readKernelLog(this.memory, this.info)));

  /** The kernel's own symbols. */
  readonly kallsyms = once((): Kallsyms | null => this.#part(() => openKallsyms(this.memory, this.info)));

  /** The kernel's own symbols; those that were given when they are lost. */
  readonly symbols = once((): KernelSymbols | null => {
    const own = this.kallsyms();
    const given = this.#given;
    return own ?? (given === null ? null : this.#part(() => given(this.info)));
  });

  /** Types; without them neither modules nor tasks are there, and a stack is walked through the kernel's own code only. */
  readonly types = once((): Btf | null => {
    if (this.symbols() === null) return null;
    const found = this.#part(() => ({ place: this.typesPlace() }));
    if (found === null) return null;
    const { place } = found;
    if (place !== null) {
      return this.#part(() => new Btf(this.memory.bytes(place.start, place.size, "the kernel's types")));
    }
    this.#warnings.push({
      reason: "btf",
      message:
        "The kernel was built without BTF: its log and the stack of the crash are read, its modules and tasks are not",
    });
    return null;
  });

  /** Where the types lie; null when there are none. Fails with `hv.bad_dump`. */
  typesPlace(): AddressRange | null {
    const start = this.symbols()?.addressOf("__start_BTF") ?? null;
    const stop = this.symbols()?.addressOf("__stop_BTF") ?? null;
    if (start !== null && stop !== null) return { start, size: Number(stop - start) };
    const behind = this.kallsyms()?.lastTable ?? null;
    return behind === null || !this.#namesNoData() ? null : searchTypes(this.memory, behind);
  }

  /** Whether the kernel has names for its functions only. */
  #namesNoData(): boolean {
    return (this.symbols()?.addressOf("init_task") ?? null) === null;
  }

  readonly #nameless = once((): NamelessData | null => {
    const [types, start] = [this.types(), this.kallsyms()?.lastTable ?? null];
    if (types === null || start === null || !this.#namesNoData()) return null;
    return this.#part(() => {
      const last = this.info.lastSymbolBelow(start + LARGEST_DATA) ?? start;
      return searchData(this.memory, types, start, last + BEHIND_LAST_SYMBOL);
    });
  });

  readonly modules = once((): readonly KernelModule[] => {
    const types = this.types();
    const head = this.symbols()?.addressOf("modules") ?? this.#nameless()?.modules ?? null;
    if (types === null) return [];
    if (head === null) {
      return this.#lost(
        "The list of modules was not found: none is loaded, or what leads to it is not there",
      );
    }
    return this.#part(() => readModules(this.memory, types, head, this.#warnings)) ?? [];
  });

  readonly code = once((): CodeMap | null => {
    const symbols = this.symbols();
    return symbols === null ? null : new CodeMap(symbols, this.modules());
  });

  readonly #walk = once((): StackWalk | null => {
    const [types, symbols, code] = [this.types(), this.symbols(), this.code()];
    if (symbols === null || code === null) return null;
    const sources = { memory: this.memory, info: this.info, types, symbols, modules: this.modules(), code };
    return this.#part(() => this.architecture.openWalk(sources));
  });

  readonly #taskReader = once((): TaskReader | null => {
    const types = this.types();
    return types === null ? null : new TaskReader(this.memory, types, this.architecture.taskStackPointer);
  });

  /** All tasks but the idle ones. */
  readonly tasks = once((): readonly KernelTask[] => {
    const reader = this.#taskReader();
    const first = this.#firstTask();
    if (reader === null) return [];
    if (first === null) return this.#lost("The kernel's first task was not found, so that none is listed");
    return this.#part(() => reader.all(first, this.#warnings)) ?? [];
  });

  #firstTask(): bigint | null {
    return this.symbols()?.addressOf("init_task") ?? this.#nameless()?.initTask ?? null;
  }

  readonly processors = once((): readonly LinuxProcessor[] =>
    this.core.processors.map((processor, index) => ({
      ...processor,
      index,
      task: once(() => this.#part(() => this.#currentTask(index) ?? this.#taskOnStack(processor))),
    }))
  );

  /** The processor that panicked, when one did. */
  readonly panicProcessor = once((): number | null => {
    const address = this.symbols()?.addressOf("panic_cpu") ?? null;
    if (address === null) return null;
    const index = this.#part(() => this.memory.i32(address, "panic_cpu"));
    return index === null || index < 0 || index >= MOST_PROCESSORS ? null : index;
  });

  readonly taint = once((): Taint | null => {
    const address = this.symbols()?.addressOf("tainted_mask") ?? null;
    const mask = address === null ? null : this.#part(() => this.memory.u64(address, "tainted_mask"));
    return mask === null ? null : taintOfMask(mask);
  });

  /** Where a code address lies; a return address is looked up at its call. */
  locate(address: bigint, exact: boolean): LinuxPlace {
    return this.code()?.locate(address, exact) ?? { module: null, symbol: null, base: null };
  }

  /** Walks the stack from registers; only the first frame is there when there is no unwind data. */
  walk(start: RegisterContext, exact = true): Walk {
    const walk = this.#walk();
    if (walk !== null) return walk(start, exact);
    const frame = {
      address: start.programCounter,
      stackPointer: start.stackPointer,
      how: "context",
      exact,
      registers: start,
    } as const;
    return { frames: [frame], end: "no_unwind_data" };
  }

  /** The stack of a task that is off the processor; null when its saved place is not in the dump. */
  walkTask(task: KernelTask): Walk | null {
    const types = this.types();
    const registers = types === null
      ? null
      : this.#part(() => this.architecture.resume(this.memory, types, task));
    return registers === null ? null : this.walk(registers, false);
  }

  #currentTask(processor: number): KernelTask | null {
    const [symbols, types, reader] = [this.symbols(), this.types(), this.#taskReader()];
    if (symbols === null || types === null || reader === null) return null;
    const ground = { memory: this.memory, symbols, types, pointers: this.architecture.currentTask };
    const address = currentTaskAddress(ground, processor);
    return address === null ? null : reader.read(address);
  }

  /** The task on whose stack the outermost function of a processor is: that is the one it runs. */
  #taskOnStack({ saved }: CoreProcessor): KernelTask | null {
    const [reader, first, others] = [this.#taskReader(), this.#firstTask(), this.tasks()];
    if (saved.isUser || reader === null || first === null) return null;
    const outermost = this.walk(saved.context).frames.at(-1)?.stackPointer ?? 0n;
    return ownerOfStack([reader.read(first), ...others], outermost, this.stackBytes);
  }

  /** An empty list, which is told. */
  #lost(message: string): readonly never[] {
    this.#warnings.push({ reason: "kernel_list", message });
    return [];
  }

  #part<Part>(read: () => Part): Part | null {
    return lostPart(this.#warnings, read);
  }
}
