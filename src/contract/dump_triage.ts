/** Why a machine or a process stopped: what reading a dump to the end gives. */

import * as z from "zod/mini";

/**
 * The answer of a triage. Fields that do not apply are left out; null says that the dump does not tell. Addresses are
 * hexadecimal in the width of the machine, offsets and displacements the shortest hexadecimal form.
 */
export const DumpTriage = z.lazy(() => {
  const text = z.nullable(z.string());
  const count = z.nullable(z.int());
  const argument = z.object({ value: z.string(), meaning: text });
  const frame = z.object({
    /** Null where only printed text tells of the frame. */
    address: text,
    /**
     * File name of the image; `<unloaded NAME>` for one that is gone, null for an address in none. On Linux a module's
     * name, and `vmlinux` for the kernel itself.
     */
    module: text,
    offset: z.optional(z.string()),
    symbol: z.optional(z.string()),
    displacement: z.optional(z.string()),
    /** File and line: `evil.c:9`. */
    source: z.optional(z.string()),
    /** Stack pointer inside the frame. With `full` only. */
    sp: z.optional(z.string()),
    /**
     * `context` (recorded registers), `unwind` (the image's data), `leaf`, `machine_frame` (an interrupt or exception
     * is crossed), `frame_pointer`, `inline`. Words on the stack: `dispatch` lies in a function that
     * exception dispatch came by, most likely a frame; `scan` may be no frame at all. `text`: printed by the kernel.
     */
    how: z.string(),
  });
  const module = z.object({
    name: z.string(),
    base: z.string(),
    size_bytes: z.int(),
    version: z.optional(z.string()),
    /** What a store files the image under; no date. */
    timestamp: z.optional(z.string()),
    symbols: z.string(),
  });
  const missing = z.object({
    /** The file's name. */
    name: z.string(),
    /** GUID and age of a symbol file, time stamp and size of an image. */
    key: z.string(),
    /** Path below the root of a symbol store. */
    url_path: z.string(),
  });
  const warning = z.object({
    reason: z.string(),
    message: z.string(),
    offset: z.optional(z.int()),
    expected: z.optional(z.union([z.int(), z.string()])),
    actual: z.optional(z.union([z.int(), z.string()])),
  });
  /** The 32-bit stack of a thread of 64-bit Windows, below the 64-bit code that it called. */
  const wow64 = z.optional(z.object({
    stack: z.array(frame),
    /** Without frames why: `no_memory` (the place of its registers is not in the dump) or `no_context` (none are there). */
    stack_end: z.string(),
    stack_frames: z.int(),
  }));
  return z.object({
    path: z.string(),
    /** The answer in one sentence. */
    summary: z.string(),
    /** The same for the same crash, with or without symbols. */
    bucket: z.string(),
    dump_kind: z.string(),
    machine: z.string(),
    os_version: text,
    /** Branch and build as the kernel tells. */
    build_lab: z.optional(text),
    /** Build id of a Linux kernel. */
    build_id: z.optional(text),
    time: z.optional(text),
    uptime_s: z.optional(z.nullable(z.number())),
    bugcheck: z.optional(z.nullable(z.object({
      code: z.string(),
      name: text,
      description: text,
      reference: text,
      arguments: z.array(argument),
    }))),
    exception: z.nullable(z.object({
      code: z.string(),
      name: text,
      address: z.string(),
      /** `read`, `write` or `execute` of `access_address`. */
      access: z.optional(z.string()),
      access_address: z.optional(z.string()),
      /** What the first parameter of a fast failure means. */
      detail: z.optional(z.string()),
      parameters: z.array(z.string()),
      /** `bugcheck_record`, `bugcheck_arguments`, `header` or `stream`. */
      origin: z.string(),
      /** The kernel's own breakpoint at a bug check: not what went wrong. Left out when it is not. */
      synthetic: z.optional(z.boolean()),
    })),
    /** What a Linux kernel said went wrong. Left out for other systems. */
    crash: z.optional(z.object({
      /** `null-deref`, `gpf`, `bug`, `soft-lockup`, `hung-task`, `init-killed`, ...; `hang` or `none` when it said nothing, `unknown` when that cannot be read. */
      class: z.string(),
      /** First line of the report. */
      headline: text,
      /** The line before it that says why. */
      reason: text,
      /** Message of the panic; null when there was none. */
      panic: text,
      /** Address that was touched. */
      fault_address: z.optional(z.string()),
      /** What tells of the stack: `core` (memory and registers), `log` (what the core's log printed) or `text`. */
      evidence: z.enum(["core", "log", "text"]),
      /** Reports of lost tasks or machines after this one. */
      later_reports: z.int(),
      /** Text only: starts of a kernel in it, and whether one stood still or started again afterwards. */
      boots: z.optional(z.int()),
      halted: z.optional(z.boolean()),
      rebooted: z.optional(z.boolean()),
      /** Text only: lines of a start that failed without a report. */
      boot_failures: z.optional(z.array(z.string())),
    })),
    /** Taint of a Linux kernel: letters as an oops shows them, and what each means; null when it does not tell. */
    taint: z.optional(z.nullable(z.object({ letters: z.string(), meaning: z.array(z.string()) }))),
    /** The image to blame; null when the dump blames none. */
    culprit: z.nullable(z.object({
      module: z.string(),
      offset: z.optional(z.string()),
      symbol: z.optional(z.string()),
      version: z.optional(z.string()),
      /** Name and key of its symbol file. */
      pdb: z.optional(z.string()),
      confidence: z.enum(["high", "medium", "low"]),
      /**
       * The rule that decided: `bugcheck_argument`, `device_stack`, `exception_address`, `context`,
       * `verifier`, `stack`, `corruption`, `scan`, `kernel`.
       */
      rule: z.string(),
      evidence: z.string(),
    })),
    process: z.nullable(z.object({ name: z.optional(text), id: count })),
    thread: z.nullable(
      z.object({ id: count, name: z.optional(z.string()), address: z.optional(z.string()) }),
    ),
    /** The processor that crashed, and how it was told from the others. */
    processor: z.optional(z.nullable(z.object({ index: z.int(), found_by: z.string() }))),
    /** Registers at the start of the stack: the instruction and stack pointers, all with `full`. */
    context: z.nullable(z.object({ origin: z.string(), registers: z.record(z.string(), z.string()) })),
    stack: z.array(frame),
    /** Why the stack ends: `bottom` is its real end. */
    stack_end: z.string(),
    /** Frames of the whole stack, inline ones counted. */
    stack_frames: z.int(),
    /** Left out for a thread without 32-bit code, and for one that was in it: then that is the stack. */
    wow64,
    /** Words on the stack that may be return addresses, when the stack cannot be walked to its end. */
    scanned: z.optional(z.array(frame)),
    /** Stacks of the process's other threads. Of minidumps, with `full`. */
    threads: z.optional(z.array(z.object({
      id: z.int(),
      name: z.optional(z.string()),
      stack: z.array(frame),
      stack_end: z.string(),
      wow64,
    }))),
    /** Images of the stack and the culprit first; all with `full`. */
    modules: z.array(module),
    module_count: z.int(),
    unloaded_count: z.int(),
    /** Names of modules that a Linux text lists. */
    module_names: z.optional(z.array(z.string())),
    /** Last lines of the kernel's log up to the one with which the crash begins. */
    log: z.optional(z.array(z.string())),
    /** Files that would make this answer better. */
    missing_symbols: z.array(missing),
    warnings: z.array(warning),
    /** Whether lists were cut; `full` shows all. */
    truncated: z.optional(z.boolean()),
  });
});
export type DumpTriage = z.infer<typeof DumpTriage>;
export type TriageFrame = DumpTriage["stack"][number];
export type TriageCulprit = NonNullable<DumpTriage["culprit"]>;
export type TriageModule = DumpTriage["modules"][number];
export type MissingSymbol = DumpTriage["missing_symbols"][number];
