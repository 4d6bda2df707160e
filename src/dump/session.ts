/** What an opened dump offers to those who ask why a machine or a process stopped. */

import type { VirtualMemory } from "./memory/virtual.ts";
import type { PhysicalMemory } from "./memory/physical.ts";
import type { Paging } from "./memory/page_tables.ts";
import type { MinidumpSystem } from "./minidump/streams.ts";
import type { MinidumpThread } from "./minidump/threads.ts";
import type { Wow64Absence } from "./minidump/wow64.ts";
import type { CodeView, LoadedModule, ModuleList, UnloadedModule } from "./modules.ts";
import type { DumpReason, DumpWarning } from "./reasons.ts";
import type { ContextMachine, RegisterContext } from "./windows/context.ts";
import type { ExceptionRecord, KernelHeader } from "./windows/header.ts";
import type { DebuggerData, DecodingVariables } from "./windows/kernel/debugger_data.ts";
import type { KernelProcess, KernelThread } from "./windows/kernel/processes.ts";
import type { Processor } from "./windows/kernel/processors.ts";

/** Where an exception was found. */
export type ExceptionOrigin =
  /** The record that a bug check argument points to. */
  | "bugcheck_record"
  /** The bug check's arguments are its code and address; the record itself is not in the dump. */
  | "bugcheck_arguments"
  /** The dump's header. */
  | "header"
  /** The minidump's exception stream. */
  | "stream";

/** The exception that a dump is about. */
export interface DumpException extends ExceptionRecord {
  readonly origin: ExceptionOrigin;
  /** The breakpoint that the kernel puts into the header at every bug check: not what went wrong. */
  readonly synthetic: boolean;
  /** The thread that raised it, in minidumps. */
  readonly threadId: number | null;
}

/** Where a context was found, best first. */
export type ContextOrigin =
  /** The record that a bug check argument points to: the moment of the exception. */
  | "bugcheck_context"
  /** The trap frame that a bug check argument points to: the moment of the trap, without all registers. */
  | "trap_frame"
  /** The exception stream of a minidump. */
  | "exception"
  /** The processor that crashed: inside the bug check call. */
  | "processor"
  /** The dump's header. */
  | "header"
  /** The first thread of a minidump that has one. */
  | "thread";

/** Registers from which a stack walk may start. */
export interface FoundContext {
  readonly origin: ContextOrigin;
  readonly registers: RegisterContext;
}

/** What kernel dumps and user-mode minidumps have in common. Everything is read when it is first asked for. */
export interface CommonSession {
  /** The kind as an inspection names it: `triage`, `bitmap_kernel`, `minidump`. */
  readonly kind: string;
  readonly machine: ContextMachine;
  readonly bits: 32 | 64;
  /** Windows build; null when it was never written or the system is another one. */
  readonly build: number | null;
  readonly memory: VirtualMemory;
  readonly modules: ModuleList;
  readonly unloaded: readonly UnloadedModule[];
  readonly exception: DumpException | null;
  /** All contexts that are there, best first: that of the exception before that of the bug check call. */
  readonly contexts: readonly FoundContext[];
  /** What was found damaged or contradictory so far; it grows while more is read. */
  readonly warnings: readonly DumpWarning[];
  /** Identity of an image's symbol file: recorded, from its headers in memory, or from captured pieces. */
  codeViewOf(module: LoadedModule): CodeView | null;
}

/** The stop code with its arguments. */
export interface BugCheck {
  readonly code: number;
  readonly parameters: readonly [bigint, bigint, bigint, bigint];
  /** Whether the kernel's own variable says the same; null when it is not in the dump. */
  readonly confirmed: boolean | null;
}

/** How the processor that crashed was told from the others, surest first. */
export type CrashedBy =
  /** A small dump keeps a copy of its control block. */
  | "triage_copy"
  /** Its saved stack pointer is that of the header. */
  | "stack_pointer"
  /** The header's stack pointer lies in the stack of its thread. */
  | "stack_range"
  /** There is only one. */
  | "only_one"
  /** Nothing tells: the first one, as debuggers assume. */
  | "assumed";

/** The processor that crashed. */
export interface CrashedProcessor {
  readonly processor: Processor;
  readonly by: CrashedBy;
}

/** A kernel dump. */
export interface KernelSession extends CommonSession {
  readonly mode: "kernel";
  readonly header: KernelHeader;
  /** Pages by physical address; null in small dumps. */
  readonly physical: PhysicalMemory | null;
  /** How addresses are translated; null in small dumps. */
  readonly paging: Paging | null;
  /** Null when it is missing or scrambled: {@link debuggerDataProblem} says which. */
  readonly debuggerData: DebuggerData | null;
  /** `no_kdbg` or `kdbg_encoded`; null when the block was read. */
  readonly debuggerDataProblem: DumpReason | null;
  /** Null when the header says that there was none or does not tell. */
  readonly bugCheck: BugCheck | null;
  readonly processorCount: number;
  /** Those whose control blocks are in the dump. */
  readonly processors: readonly Processor[];
  readonly crashed: CrashedProcessor | null;
  /** The thread that the crashed processor was running, and its process. */
  readonly thread: KernelThread | null;
  readonly process: KernelProcess | null;
  /**
   * Images of that process, by its own addresses; empty for threads of the kernel and where its memory is not in the
   * dump, as in most kinds.
   */
  readonly userModules: ModuleList;
  /** Branch and build as the kernel tells: `19041.1.amd64fre.vb_release.191206-1406`. */
  readonly buildLab: string | null;
  /** Threads and processes by address; null without debugger data. */
  readThread(address: bigint): KernelThread | null;
  readProcess(address: bigint): KernelProcess | null;
  /** Memory through another page table register, for user addresses; null in small dumps. */
  memoryOf(directoryTableBase: bigint): VirtualMemory | null;
  /**
   * The same dump with a scrambled debugger data block decoded, once symbols have told the three addresses. When they
   * do not fit, the new session is as poor as this one.
   */
  decodeWith(variables: DecodingVariables): KernelSession;
}

/** A user-mode minidump. */
export interface UserSession extends CommonSession {
  readonly mode: "user";
  readonly system: MinidumpSystem;
  readonly processId: number | null;
  readonly threads: readonly MinidumpThread[];
  /**
   * Registers with which a thread left 32-bit code for 64-bit code (WOW64), or why they cannot be told. Null when it
   * has no such side, or when its own context is in 32-bit code.
   */
  context32Of(thread: MinidumpThread): RegisterContext | Wow64Absence | null;
}

/** An opened dump. */
export type DumpSession = KernelSession | UserSession;
