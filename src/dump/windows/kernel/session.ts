/** An opened kernel dump. */

import type { ByteReader, ByteSource } from "../../bytes.ts";
import { findCapturedCodeView, readImageCodeView } from "../../mapped_image.ts";
import { AddressSpace } from "../../memory/address_space.ts";
import { BlockMemory } from "../../memory/blocks.ts";
import type { Paging } from "../../memory/page_tables.ts";
import type { PhysicalMemory } from "../../memory/physical.ts";
import type { VirtualMemory } from "../../memory/virtual.ts";
import { type CodeView, type LoadedModule, ModuleList, type UnloadedModule } from "../../modules.ts";
import { once } from "../../../base/once.ts";
import { type DumpReason, type DumpWarning, readPart } from "../../reasons.ts";
import type {
  BugCheck,
  CrashedProcessor,
  DumpException,
  FoundContext,
  KernelSession,
} from "../../session.ts";
import { type ContextMachine, parseContext } from "../context.ts";
import type { KernelHeader } from "../header.ts";
import type { HeaderLayout } from "../header_layout.ts";
import type { TriageHeader } from "../triage.ts";
import { buildNumber } from "../versions.ts";
import { readBugCheck } from "./bug_check.ts";
import { findCrashed } from "./crashed_processor.ts";
import type { DebuggerData, DecodingVariables } from "./debugger_data.ts";
import { findContexts, findException } from "./evidence.ts";
import { walkLoadedModules } from "./loaded_modules.ts";
import { locateDebuggerData } from "./locate_debugger_data.ts";
import {
  type KernelProcess,
  type KernelThread,
  type KernelView,
  readProcess,
  readThread,
} from "./processes.ts";
import { type Processor, readProcessor, readProcessorBlocks } from "./processors.ts";
import { readTriageDrivers, readTriageUnloaded } from "./triage_lists.ts";
import { hasTriagePart, TRIAGE_PART, triageProcessorNumber } from "./triage_memory.ts";
import { readUnloadedDrivers } from "./unloaded_drivers.ts";
import { readUserModules } from "./user_modules.ts";

/** What opening a kernel dump has found out: the ground that a session stands on. */
export interface KernelGround {
  readonly kind: string;
  readonly source: ByteSource;
  readonly reader: ByteReader;
  readonly layout: HeaderLayout;
  readonly header: KernelHeader;
  readonly machine: ContextMachine;
  readonly memory: VirtualMemory;
  readonly physical: PhysicalMemory | null;
  readonly paging: Paging | null;
  readonly triage: TriageHeader | null;
  readonly warnings: DumpWarning[];
  readonly decoding: DecodingVariables | null;
}

/** A build lab is short; what follows without a NUL is not part of it. */
const LONGEST_BUILD_LAB = 128;

/** Reads kernel structures over the memory of a dump, each when it is first asked for. */
export class OpenedKernelDump implements KernelSession {
  readonly mode = "kernel";
  readonly kind: string;
  readonly machine: ContextMachine;
  readonly bits: 32 | 64;
  readonly build: number | null;
  readonly header: KernelHeader;
  readonly memory: VirtualMemory;
  readonly physical: PhysicalMemory | null;
  readonly paging: Paging | null;
  readonly processorCount: number;
  readonly #ground: KernelGround;
  readonly #codeViews = new Map<bigint, CodeView | null>();

  constructor(ground: KernelGround) {
    this.#ground = ground;
    this.kind = ground.kind;
    this.machine = ground.machine;
    this.bits = ground.header.bits;
    this.build = buildNumber(ground.header.minorVersion);
    this.header = ground.header;
    this.memory = ground.memory;
    this.physical = ground.physical;
    this.paging = ground.paging;
    this.processorCount = ground.header.numberProcessors ?? 0;
  }

  get warnings(): readonly DumpWarning[] {
    return this.#ground.warnings;
  }

  get debuggerData(): DebuggerData | null {
    return this.#debuggerData().data;
  }

  get debuggerDataProblem(): DumpReason | null {
    return this.#debuggerData().problem;
  }

  get modules(): ModuleList {
    return this.#modules();
  }

  get unloaded(): readonly UnloadedModule[] {
    return this.#unloaded();
  }

  get processors(): readonly Processor[] {
    return this.#processors();
  }

  get crashed(): CrashedProcessor | null {
    return this.#crashed();
  }

  get bugCheck(): BugCheck | null {
    return this.#bugCheck();
  }

  get exception(): DumpException | null {
    return this.#exception();
  }

  get contexts(): readonly FoundContext[] {
    return this.#contexts();
  }

  get thread(): KernelThread | null {
    return this.#thread();
  }

  get process(): KernelProcess | null {
    return this.#process();
  }

  get userModules(): ModuleList {
    return this.#userModules();
  }

  get buildLab(): string | null {
    const address = this.debuggerData?.variable("nt_build_lab") ?? null;
    return address === null ? null : this.memory.ascii(address, LONGEST_BUILD_LAB) || null;
  }

  readThread(address: bigint): KernelThread | null {
    const view = this.#view();
    return view === null ? null : readThread(view, address);
  }

  readProcess(address: bigint): KernelProcess | null {
    const view = this.#view();
    return view === null ? null : readProcess(view, address);
  }

  memoryOf(directoryTableBase: bigint): VirtualMemory | null {
    if (this.physical === null || this.paging === null) return null;
    return new AddressSpace({
      physical: this.physical,
      paging: this.paging,
      directoryTableBase,
      build: this.build,
    });
  }

  codeViewOf(module: LoadedModule): CodeView | null {
    const known = this.#codeViews.get(module.base);
    if (known !== undefined) return known;
    const { memory } = this;
    const found = module.codeView ?? readImageCodeView(memory, module.base) ??
      (memory instanceof BlockMemory ? findCapturedCodeView(memory, module.base, module.size) : null);
    this.#codeViews.set(module.base, found);
    return found;
  }

  decodeWith(variables: DecodingVariables): KernelSession {
    const warnings = this.warnings.filter(({ reason }) => reason !== "kdbg_encoded");
    return new OpenedKernelDump({ ...this.#ground, warnings, decoding: variables });
  }

  readonly #debuggerData = once(() => {
    const { header, memory, decoding, warnings } = this.#ground;
    return locateDebuggerData(memory, header, decoding, warnings);
  });

  readonly #modules = once((): ModuleList => {
    const { header, reader, triage, warnings } = this.#ground;
    if (triage !== null && hasTriagePart(header, TRIAGE_PART.drivers) && triage.driver_list_offset !== 0) {
      const drivers = readPart(warnings, () => readTriageDrivers(reader, triage, this.bits, warnings));
      return drivers ?? new ModuleList([], true);
    }
    const head = header.psLoadedModuleList ?? this.debuggerData?.variable("ps_loaded_module_list") ?? 0n;
    return walkLoadedModules(this.memory, head, this.build, warnings);
  });

  readonly #unloaded = once((): UnloadedModule[] => {
    const { reader, triage, warnings } = this.#ground;
    if (triage !== null) {
      return readPart(warnings, () => readTriageUnloaded(reader, triage, this.bits, warnings)) ?? [];
    }
    return this.debuggerData === null ? [] : readUnloadedDrivers(this.memory, this.debuggerData);
  });

  readonly #processors = once((): Processor[] => {
    const data = this.debuggerData;
    if (data === null) return [];
    return readProcessorBlocks(this.memory, data, this.processorCount).flatMap((prcb, index) =>
      prcb === null ? [] : [readProcessor(this.memory, this.machine, data, index, prcb)]
    );
  });

  readonly #crashed = once((): CrashedProcessor | null => {
    const { header, reader, triage } = this.#ground;
    const member = this.debuggerData?.offset("prcb_number") ?? null;
    const copied = triage === null ? null : triageProcessorNumber(reader, header, triage, member);
    const stackPointer = this.#headerContext()?.stackPointer ?? null;
    return findCrashed(this.processors, copied, stackPointer, (address) => this.readThread(address));
  });

  readonly #bugCheck = once(() => readBugCheck(this.memory, this.header, this.debuggerData));

  readonly #headerContext = once(() => {
    const { layout, reader } = this.#ground;
    const { offset, size } = layout.fields.context_record;
    return reader.has(offset, size)
      ? parseContext(this.machine, reader.bytes(offset, size, "ContextRecord"))
      : null;
  });

  readonly #exception = once(() =>
    findException(this.memory, this.header, this.bugCheck, this.modules.all[0] ?? null)
  );

  readonly #contexts = once(() =>
    findContexts(
      this.memory,
      this.machine,
      this.bugCheck,
      this.crashed?.processor.context ?? null,
      this.#headerContext(),
    )
  );

  readonly #thread = once((): KernelThread | null => {
    const address = this.crashed?.processor.currentThread ?? null;
    return address === null ? null : this.readThread(address);
  });

  readonly #process = once((): KernelProcess | null => {
    const address = this.thread?.process ?? null;
    return address === null ? null : this.readProcess(address);
  });

  readonly #userModules = once((): ModuleList => {
    const teb = this.thread?.teb ?? null;
    if (teb === null) return new ModuleList([]);
    const base = this.process?.directoryTableBase ?? null;
    return readUserModules((base === null ? null : this.memoryOf(base)) ?? this.memory, teb);
  });

  #view(): KernelView | null {
    const { memory, machine, build, debuggerData: data } = this;
    return data === null ? null : { memory, machine, build, data };
  }
}
