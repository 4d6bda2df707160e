/** The key under which equal Linux crashes are counted: the same from a core, from its log, and from console text. */

/** What the key looks at of a frame. */
export interface NamedFrame {
  readonly name: string;
  /** Null for the kernel's own functions. */
  readonly module: string | null;
  /**
   * Whether a trace that the kernel prints has another name for it: some print the address behind a call, which for a
   * call that ends a function is the beginning of another one. Such a frame is in no key.
   */
  readonly misnamed?: boolean;
}

const FUNCTIONS = 3;
const LONGEST_MESSAGE = 80;
const SUFFIXES = /(?:\.(?:cold|isra|constprop|part|llvm|lto_priv|localalias|clone)(?:\.?\d+)?)+$/;

/** Functions that only carry the news, wait, or check: they say nothing about who is to blame. */
const CARRIERS = new RegExp(
  `^(?:${
    [
      "dump_stack\\w*|show_stack\\w*|__?panic|vpanic|panic\\w*|nmi_panic\\w*|oops_end|die\\w*|__die\\w*",
      "page_fault_oops|bad_area\\w*|__bad_area\\w*|no_context|exc_\\w+|asm_\\w+|do_trap|do_error_trap",
      "do_(?:user|kern)_addr_fault|handle_page_fault|handle_bug|report_bug|__?warn\\w*|__report_bad_irq",
      "fixup_bug|error_entry|end_repeat_nmi|default_do_nmi|unknown_nmi_error|nmi|watchdog_timer_fn",
      "check_hung_uninterruptible_tasks|.*_notifier_call_chain|notifier_call_chain|notify_die|pvpanic_\\w+",
      "crash_\\w*kexec|sysvec_\\w+|__?schedule\\w*|schedule\\w*|io_schedule\\w*|__?mutex_lock\\w*",
      "__mutex_lock\\w*|down_(?:read|write)\\w*|rwsem_\\w+|__down_\\w+|wait_for_completion\\w*",
      "__wait_for_common|native_queued_spin_lock_slowpath|_raw_spin_lock\\w*|check_panic_on_warn",
      "__schedule_bug|__might_\\w+|stop_this_cpu|panic_on_rcu_stall|rcu_\\w+|print_cpu_stall\\w*",
      "refcount_warn_saturate|__?fortify\\w*|usercopy_abort|__check_heap_object|__check_object_size",
      "__?list_\\w+_valid\\w*|__list_\\w+|__stack_chk_fail|stack_chk_fail|check_bytes_and_report|check_object",
      "check_slab|object_err|slab_\\w+|free_to_partial_list|free_debug_processing|alloc_debug_processing",
      "print_trailer|__slab_\\w+|__?kmem_cache_\\w+|kfree\\w*|__kmalloc\\w*|kmalloc_\\w+|kasan_\\w+",
      // ARM64's ways of the same.
      "dump_backtrace\\w*|el[01][ht]?_\\w+|do_mem_abort|do_sp_pc_abort",
      "do_(?:translation|alignment|page)_fault|__do_kernel_fault|die_kernel_fault",
      "bug_handler|bug_brk_handler|call_break_hook|brk_handler|do_debug_exception|do_undefinstr|do_el[01]_\\w+",
      "__bad_stack|handle_bad_stack|panic_bad_stack|arm64_serror_panic|do_serror|__switch_to|local_cpu_stop",
      "print_report|print_address_description\\w*|__asan_\\w+",
    ].join("|")
  })$`,
);

/** A function's name without what the compiler hung on it. */
export function baseName(name: string): string {
  return name.replace(SUFFIXES, "");
}

/** Whether a function only carries the news of a crash. */
export function isCarrier(name: string): boolean {
  return CARRIERS.test(baseName(name));
}

/**
 * `class|module:function|function|...`, innermost first, at most three; without any function the message with its
 * numbers struck out.
 */
export function bucketOfFrames(kind: string, frames: readonly NamedFrame[], message: string): string {
  const functions = frames.filter(({ name, misnamed }) => misnamed !== true && !isCarrier(name)).slice(
    0,
    FUNCTIONS,
  )
    .map(({ name, module }) => `${module === null ? "" : `${module}:`}${baseName(name)}`);
  const what = functions.length > 0 ? functions : [withoutNumbers(message)].filter((text) => text !== "");
  return [kind, ...what].join("|");
}

/** Keys of what is told by its meaning and not by a stack; null for all other classes. */
export function bucketByMeaning(
  kind: string,
  { comm, exit, device }: { comm: string; exit: string; device: string },
): string | null {
  switch (kind) {
    case "oom-kill":
      return `oom-kill|${comm}`;
    case "init-killed":
      return `init-killed|${comm}|${exit}`;
    case "no-root":
    case "no-init":
      return `${kind}|${device}`;
    case "sysrq-crash":
    case "oom-panic":
      return kind;
    default:
      return null;
  }
}

function withoutNumbers(message: string): string {
  return message.replace(/\(?0x[0-9a-f]+\)?|[0-9a-f]{8,}|\d+/g, "#").slice(0, LONGEST_MESSAGE).trim();
}
