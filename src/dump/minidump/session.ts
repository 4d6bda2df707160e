/** An opened user-mode minidump. */

import { ByteReader, type ByteSource } from "../bytes.ts";
import { findCapturedCodeView, readImageCodeView } from "../mapped_image.ts";
import { BlockMemory, type MemoryBlock } from "../memory/blocks.ts";
import { type CodeView, type LoadedModule, ModuleList, type UnloadedModule } from "../modules.ts";
import { once } from "../../base/once.ts";
import { badDump, type DumpWarning, readPart } from "../reasons.ts";
import type { DumpException, FoundContext, UserSession } from "../session.ts";
import type { ContextMachine, RegisterContext } from "../windows/context.ts";
import { type MinidumpDirectory, readMinidumpDirectory, type StreamRange } from "./directory.ts";
import { EXCEPTION_CONTEXT, EXCEPTION_STREAM, STREAM } from "./layout.ts";
import { readMemory64List, readMemoryList } from "./memory.ts";
import { readModuleList, readUnloadedModules } from "./modules.ts";
import { type MinidumpSystem, readException, readMiscInfo, readSystemInfo } from "./streams.ts";
import { type MinidumpThread, readContextAt, readThreadList, readThreadNames } from "./threads.ts";
import { hasWow64, readWow64Context, type Wow64Absence } from "./wow64.ts";

const FULL_MEMORY = 2n;

/**
 * Opens a minidump whose signature has been seen. Fails with `hv.bad_dump` as reading the directory does, and with
 * `stream_missing` (nothing tells the processor) or `unsupported_kind` (a processor whose contexts are not read).
 */
export function openMinidump(source: ByteSource): UserSession {
  const reader = new ByteReader(source, { what: "minidump" });
  const warnings: DumpWarning[] = [];
  const directory = readMinidumpDirectory(reader, warnings);
  const range = directory.streams.get(STREAM.systemInfo);
  if (range === undefined) {
    throw badDump("stream_missing", "Cannot open the minidump: no stream tells its system and processor", {
      expected: STREAM.systemInfo,
    });
  }
  const system = readSystemInfo(reader, range);
  const { machine } = system;
  if (machine !== "x64" && machine !== "x86" && machine !== "arm64") {
    throw badDump(
      "unsupported_kind",
      `Cannot open the minidump: processor ${machine} is not understood`,
      { found: machine },
      "Run `hvlab dump inspect` for what its header tells",
    );
  }
  return new OpenedMinidump(source, reader, directory, system, machine, warnings);
}

class OpenedMinidump implements UserSession {
  readonly mode = "user";
  readonly kind: string;
  readonly machine: ContextMachine;
  readonly bits: 32 | 64;
  readonly build: number | null;
  readonly system: MinidumpSystem;
  readonly warnings: DumpWarning[];
  readonly #source: ByteSource;
  readonly #reader: ByteReader;
  readonly #directory: MinidumpDirectory;
  readonly #codeViews = new Map<bigint, CodeView | null>();

  constructor(
    source: ByteSource,
    reader: ByteReader,
    directory: MinidumpDirectory,
    system: MinidumpSystem,
    machine: ContextMachine,
    warnings: DumpWarning[],
  ) {
    this.#source = source;
    this.#reader = reader;
    this.#directory = directory;
    this.system = system;
    this.machine = machine;
    this.warnings = warnings;
    this.kind = directory.flags & FULL_MEMORY ? "minidump_full_memory" : "minidump";
    this.bits = machine === "x86" ? 32 : 64;
    this.build = system.platform === "windows" ? system.build : null;
  }

  get memory(): BlockMemory {
    return this.#memory();
  }

  get modules(): ModuleList {
    return this.#modules();
  }

  get unloaded(): readonly UnloadedModule[] {
    return this.#unloaded();
  }

  get threads(): readonly MinidumpThread[] {
    return this.#threads();
  }

  get exception(): DumpException | null {
    return this.#exception();
  }

  get contexts(): readonly FoundContext[] {
    return this.#contexts();
  }

  get processId(): number | null {
    return this.#part(STREAM.miscInfo, (range) => readMiscInfo(this.#reader, range))?.processId ?? null;
  }

  codeViewOf(module: LoadedModule): CodeView | null {
    const known = this.#codeViews.get(module.base);
    if (known !== undefined) return known;
    const found = module.codeView ?? readImageCodeView(this.memory, module.base) ??
      findCapturedCodeView(this.memory, module.base, module.size);
    this.#codeViews.set(module.base, found);
    return found;
  }

  context32Of({ teb, context }: MinidumpThread): RegisterContext | Wow64Absence | null {
    if (this.bits === 32 || context?.machine === "x86" || !this.#hasWow64()) return null;
    return readWow64Context(this.memory, teb);
  }

  readonly #hasWow64 = once(() => this.system.platform === "windows" && hasWow64(this.modules));

  readonly #memory = once(() => {
    const { warnings } = this;
    const blocks: MemoryBlock[] = [
      ...this.#part(STREAM.memoryList, (range) => readMemoryList(this.#reader, range, warnings)) ?? [],
      ...this.#part(STREAM.memory64List, (range) => readMemory64List(this.#reader, range, warnings)) ?? [],
      ...this.threads.flatMap(({ stack }) => stack ?? []),
    ];
    return new BlockMemory(this.#source, this.bits, blocks);
  });

  readonly #modules = once(() =>
    this.#part(STREAM.moduleList, (range) => readModuleList(this.#reader, range, this.warnings)) ??
      new ModuleList([], this.#directory.streams.has(STREAM.moduleList))
  );

  readonly #unloaded = once(() =>
    this.#part(
      STREAM.unloadedModuleList,
      (range) => readUnloadedModules(this.#reader, range, this.warnings),
    ) ?? []
  );

  readonly #threads = once((): MinidumpThread[] => {
    const { machine, warnings } = this;
    const names = this.#part(STREAM.threadNames, (range) => readThreadNames(this.#reader, range, warnings)) ??
      new Map<number, string>();
    const plain = this.#part(
      STREAM.threadList,
      (range) => readThreadList(this.#reader, range, "plain", machine, names, warnings),
    );
    return plain ?? this.#part(
      STREAM.threadExList,
      (range) => readThreadList(this.#reader, range, "extended", machine, names, warnings),
    ) ?? [];
  });

  readonly #exception = once((): DumpException | null =>
    this.#part(STREAM.exception, (range) => {
      const { code, address, parameters, threadId } = readException(this.#reader, range);
      const flags = this.#reader.u32(range.offset + EXCEPTION_STREAM.flags.offset, "ExceptionFlags");
      return { code, flags, address, parameters, threadId, origin: "stream", synthetic: false };
    })
  );

  /** The exception's own context comes first: its thread may be inside the code that writes the dump. */
  readonly #contexts = once((): FoundContext[] => {
    const found: FoundContext[] = [];
    const exception = this.#part(
      STREAM.exception,
      (range) => readContextAt(this.#reader, range.offset + EXCEPTION_CONTEXT.offset, this.machine),
    );
    if (exception !== null) found.push({ origin: "exception", registers: exception });
    const id = this.exception?.threadId ?? null;
    const thread = this.threads.find((each) => each.id === id) ?? this.threads[0];
    if (thread?.context) found.push({ origin: "thread", registers: thread.context });
    return found;
  });

  /** Reads a stream; null when it is missing or damaged, which is then a warning. */
  #part<Part>(type: number, read: (range: StreamRange) => Part): Part | null {
    const range = this.#directory.streams.get(type);
    return range === undefined ? null : readPart(this.warnings, () => read(range));
  }
}
