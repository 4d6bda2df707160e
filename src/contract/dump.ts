/** Crash dumps: what a header says. */

import * as z from "zod/mini";

/**
 * What the header of a dump says. The order of the fields is part of the promise. A field that this kind of dump
 * does not have is left out; a field that was never written, or that the file is too short for, is null.
 *
 * Built when it is first used: an inspection is over in a fraction of the time that this takes.
 */
export const DumpInspection = z.lazy(() => {
  const text = z.nullable(z.string());
  const flag = z.nullable(z.boolean());
  const count = z.nullable(z.int());
  /** A number up to 2^53 - 1, above that hexadecimal text. */
  const size = z.union([z.int(), z.string()]);

  /** One bug check argument with what the public documentation says of it. */
  const bugcheckArgument = z.object({
    /** Hexadecimal, 16 digits for 64-bit dumps and 8 for 32-bit ones; null when it was never written. */
    value: text,
    /** What it is, with the name of a status code in it; null when it is not documented. */
    meaning: text,
  });
  /** A run of pages: the number of its first page frame, and how many. */
  const run = z.object({ first_page: z.string(), pages: size });
  /** Something wrong or contradictory that did not keep the header from being read. */
  const warning = z.object({
    /** A word for programs, such as `truncated`, `run_overlap`, `encrypted`. */
    reason: z.string(),
    message: z.string(),
    offset: z.optional(z.int()),
    expected: z.optional(size),
    actual: z.optional(size),
  });

  return z.object({
    path: z.string(),
    /** `10.0.19045` for Windows, `6.1.0-57-cloud-amd64` for Linux. */
    os_version: text,
    /**
     * Kernel dumps: `full`, `kernel_summary`, `header_only`, `triage`, `bitmap_full`, `bitmap_kernel`, `automatic`,
     * `rdmp_kernel`, `rdmp_kernel_user`, `rdmp_complete`, `unknown(0x..)`. Others: `minidump`,
     * `minidump_full_memory`, `legacy_user`, `firmware_raw`, `firmware_encrypted`, `elf_core`, `kdump`,
     * `kdump_flattened`.
     */
    dump_kind: z.string(),
    /** `0x` and eight hexadecimal digits. */
    bugcheck_code: z.optional(text),
    bugcheck_name: z.optional(text),
    description: z.optional(text),
    /** Page of the vendor's catalogue. */
    reference: z.optional(text),
    arg1: z.optional(text),
    arg2: z.optional(text),
    arg3: z.optional(text),
    arg4: z.optional(text),
    directory_table_base: z.optional(text),
    kd_debugger_data_block: z.optional(text),
    /** The four arguments again, with their meanings. */
    arguments: z.optional(z.array(bugcheckArgument)),
    os_name: z.optional(text),
    build: z.optional(count),
    /** `free` or `checked`. */
    build_kind: z.optional(text),
    service_pack: z.optional(text),
    platform: z.optional(z.string()),
    /** `x64`, `arm64`, `x86`, `arm`, `ia64`, ... */
    machine: z.optional(text),
    processors: z.optional(count),
    /** When the dump was taken, ISO 8601 in UTC. */
    time: z.optional(text),
    uptime_s: z.optional(z.nullable(z.number())),
    product: z.optional(text),
    suite: z.optional(z.nullable(z.array(z.string()))),
    attributes: z.optional(z.nullable(z.array(z.string()))),
    live: z.optional(flag),
    encrypted: z.optional(flag),
    comment: z.optional(text),
    /** Who wrote it: `windows`, `debugger`, or a tool's name. */
    producer: z.optional(text),
    boot_id: z.optional(count),
    exception_code: z.optional(text),
    exception_name: z.optional(text),
    exception_address: z.optional(text),
    exception_parameters: z.optional(z.array(z.string())),
    /** How memory was touched by an access violation: `read`, `write`, `execute`. */
    fault: z.optional(z.string()),
    fault_address: z.optional(z.string()),
    thread_id: z.optional(count),
    process_id: z.optional(count),
    process_started: z.optional(text),
    program_counter: z.optional(text),
    stack_pointer: z.optional(text),
    pae: z.optional(flag),
    pfn_database: z.optional(text),
    ps_loaded_module_list: z.optional(text),
    ps_active_process_head: z.optional(text),
    /** The number behind `dump_kind`. */
    dump_type: z.optional(count),
    /** Parts that a triage dump says it holds. */
    parts: z.optional(z.nullable(z.array(z.string()))),
    writer_status: z.optional(text),
    secondary_data_state: z.optional(text),
    /** Last line that the dump writer left behind. */
    writer_last_line: z.optional(text),
    minidump_flags: z.optional(z.string()),
    streams: z.optional(z.int()),
    threads: z.optional(count),
    modules: z.optional(count),
    drivers: z.optional(z.int()),
    unloaded_drivers: z.optional(count),
    data_blocks: z.optional(z.int()),
    secondary_blobs: z.optional(z.int()),
    secondary_data_bytes: z.optional(z.int()),
    /** Whose memory an ELF core holds: `machine` or `process`. */
    core_of: z.optional(text),
    node: z.optional(text),
    /** Build id of a Linux kernel; null when its notes do not tell. */
    build_id: z.optional(text),
    /** Memory of a Linux machine that its core holds. */
    memory_bytes: z.optional(size),
    /** Of a core that a crash policy has reduced to what triage, log and tasks read: the memory that it was made from. */
    reduced_from_bytes: z.optional(size),
    /** Message of a Linux kernel's panic, out of its log; null when there was none or the core does not tell. */
    panic: z.optional(text),
    /** First line of the report with which a Linux crash began. */
    report: z.optional(text),
    format_version: z.optional(z.string()),
    run_count: z.optional(count),
    /** The first runs, at most 42. */
    runs: z.optional(z.nullable(z.array(run))),
    bitmap_bits: z.optional(z.nullable(size)),
    first_page_offset: z.optional(z.nullable(size)),
    required_dump_space: z.optional(z.nullable(size)),
    pages: z.optional(z.nullable(size)),
    pages_missing: z.optional(z.nullable(size)),
    /** Smallest size of a complete file; null when the file does not tell. */
    expected_size_bytes: z.nullable(size),
    actual_size_bytes: z.int(),
    /** What a file with holes takes on disk. */
    allocated_size_bytes: z.optional(z.int()),
    warnings: z.array(warning),
  });
});
export type DumpInspection = z.infer<typeof DumpInspection>;
export type BugcheckArgument = NonNullable<DumpInspection["arguments"]>[number];
export type DumpWarning = DumpInspection["warnings"][number];
