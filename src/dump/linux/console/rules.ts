/** The first lines of kernel reports, and what each is called. */

/** How much a report means. */
export type Rank =
  /** The machine or the task is lost. */
  | "lost"
  /** Trouble that may be the cause. */
  | "trouble"
  /** A note beside others. */
  | "note";

/** One form of a first line. Named groups become facts of the report. */
export interface HeadRule {
  readonly class: string;
  readonly rank: Rank;
  readonly pattern: RegExp;
}

const HEX = "(?:0x)?[0-9a-f]+";
const OOPS = "(?:Oops: )?";
const NUMBERED = "[0-9a-f]{4,16} \\[#";

function lost(name: string, ...patterns: string[]): HeadRule[] {
  return rule(name, "lost", patterns);
}

function trouble(name: string, ...patterns: string[]): HeadRule[] {
  return rule(name, "trouble", patterns);
}

function rule(name: string, rank: Rank, patterns: string[]): HeadRule[] {
  return patterns.map((pattern) => ({ class: name, rank, pattern: new RegExp(`^${pattern}`) }));
}

/** In order: the first that fits holds. */
export const HEAD_RULES: readonly HeadRule[] = [
  ...lost(
    "null-deref",
    `BUG: kernel NULL pointer dereference, address: (?<address>${HEX})`,
    `BUG: unable to handle kernel NULL pointer dereference at (?<address>${HEX})`,
    `Unable to handle kernel NULL pointer dereference at virtual address (?<address>${HEX})`,
  ),
  ...lost(
    "stack-overflow",
    "BUG: (?:TASK |IRQ |\\S+ )?stack guard page was hit at (?<address>\\S+)",
    "Insufficient stack space",
    "kernel stack overflow",
    "stack guard page: [0-9a-f]{4} \\[#",
  ),
  ...lost(
    "page-fault",
    `BUG: unable to handle (?:page fault for address: |kernel paging request at )(?<address>${HEX})`,
    `Unable to handle kernel .*at virtual address (?<address>${HEX})`,
  ),
  ...lost(
    "gpf",
    `${OOPS}general protection fault(?:, (?:probably|maybe) for (?:non-canonical )?address (?<address>${HEX}))?.*: ${NUMBERED}`,
  ),
  ...lost("divide-error", `${OOPS}divide error: ${NUMBERED}`),
  ...lost("double-fault", "(?:traps: )?PANIC: double fault", `${OOPS}double fault: `),
  ...lost("bug", "kernel BUG at (?<file>\\S+?):(?<line>\\d+)!"),
  ...lost(
    "invalid-opcode",
    `${OOPS}invalid opcode: ${NUMBERED}`,
    `Internal error: Oops - Undefined instruction: ${NUMBERED}`,
  ),
  ...lost(
    "trap",
    `${OOPS}(?<what>int3|bounds|debug|alignment check|segment not present|stack segment|invalid TSS|control protection)[ \\w]*: ${NUMBERED}`,
  ),
  ...trouble("kasan", "BUG: KASAN: (?<what>\\S+(?: \\S+)?) in (?<function>[\\w.]+)"),
  ...trouble("kfence", "BUG: KFENCE: (?<what>.+?) in (?<function>[\\w.]+)"),
  ...trouble("kmsan", "BUG: KMSAN: (?<what>\\S+) in (?<function>[\\w.]+)"),
  ...trouble("kcsan", "BUG: KCSAN: (?<what>\\S+) in (?<function>[\\w.]+)"),
  ...trouble("ubsan", "UBSAN: (?<what>\\S+) in (?<file>\\S+?):(?<line>\\d+)"),
  ...trouble(
    "soft-lockup",
    "(?:NMI )?(?:watchdog: )?BUG: soft lockup - CPU#(?<cpu>\\d+) stuck for (?<seconds>\\d+)s! \\[(?<comm>.*):(?<pid>\\d+)\\]",
  ),
  ...trouble(
    "hard-lockup",
    ".{0,40}?(?:NMI )?watchdog: (?:Watchdog detected hard LOCKUP on cpu|CPU) ?(?<cpu>\\d+)",
  ),
  ...trouble(
    "rcu-stall",
    "(?:rcu: )?INFO: (?<what>\\w+) (?:self-detected stall on CPU|detected (?:expedited )?stalls on CPUs)",
  ),
  ...trouble(
    "hung-task",
    "INFO: task (?<comm>.+):(?<pid>\\d+) blocked (?:in I/O wait )?for more than (?<seconds>\\d+) seconds",
  ),
  ...trouble(
    "atomic-sleep",
    "BUG: scheduling while atomic: (?<comm>.+?)/(?<pid>\\d+)/",
    "BUG: sleeping function called from invalid context at (?<file>\\S+?):(?<line>\\d+)",
  ),
  ...trouble("workqueue-lockup", "BUG: workqueue lockup"),
  ...trouble("slab", "BUG (?<what>[\\w-]+) \\((?:Tainted|Not tainted).*\\): (?<message>.+)"),
  ...trouble("bad-page", "BUG: Bad (?:page state|page map|rss-counter)"),
  ...trouble("bug-other", "BUG: (?<message>.+)"),
  ...trouble(
    "lockdep",
    "WARNING: (?<message>possible .+ detected|.*lock held when.*|suspicious RCU usage|inconsistent lock state|bad unlock balance.*)",
  ),
  ...trouble(
    "warning",
    "WARNING: CPU: (?<cpu>\\d+) PID: (?<pid>\\d+) at (?<file>\\S+?):(?<line>\\d+)(?: (?<function>[\\w.]+)\\+)?",
    "WARNING: (?<file>[\\w./-]+):(?<line>\\d+) at (?<function>[\\w.]+)\\+\\S+, CPU#(?<cpu>\\d+): (?<comm>.+)/(?<pid>\\d+)",
  ),
  ...rule("oom", "note", ["(?<comm>.+) invoked oom-killer"]),
  ...trouble(
    "oom-kill",
    "(?:Memory cgroup out of memory|Out of memory(?: \\(\\w+\\))?): Killed process (?<pid>\\d+) \\((?<comm>.+?)\\)",
  ),
  ...rule("nmi", "note", ["Uhhuh\\. NMI received", "NMI: "]),
  ...trouble("mce", "mce: \\[Hardware Error\\]"),
  ...lost("panic", "Kernel panic - not syncing: (?<message>.*)"),
  ...lost("serror", "SError Interrupt on CPU(?<cpu>\\d+), code (?<code>\\S+)"),
  ...lost("oops", "(?:Internal error: )?Oops(?:: | - )", `Internal error: .{1,80}: ${NUMBERED}`),
];

/** What a bare panic means by its message. */
export const PANIC_RULES: readonly { readonly class: string; readonly pattern: RegExp }[] = [
  { class: "init-killed", pattern: /^Attempted to kill init! exitcode=(?<code>0x[0-9a-f]+)/ },
  { class: "no-root", pattern: /^VFS: Unable to mount root fs on (?<device>\S+)/ },
  { class: "no-init", pattern: /^(?:No working init found|Requested init (?<device>\S+) failed)/ },
  { class: "sysrq-crash", pattern: /^sysrq triggered crash/ },
  { class: "oom-panic", pattern: /^(?:Out of memory|System is deadlocked on memory|out of memory)/ },
  {
    class: "stack-smash",
    pattern: /^stack-protector: Kernel stack is corrupted in: (?<function>[\w.]+)/,
  },
  { class: "nmi", pattern: /^(?:NMI: Not continuing|NMI: IOCK|unknown NMI)/ },
  { class: "mce", pattern: /^Fatal [Mm]achine check/ },
  { class: "serror", pattern: /^Asynchronous SError Interrupt/ },
  { class: "stack-overflow", pattern: /^kernel stack overflow/ },
];

/** Panics that only name what triggered them give way to that report; null stands for any. */
export const PANIC_TRIGGERS: readonly (readonly [message: RegExp, trigger: string | null])[] = [
  [/softlockup/i, "soft-lockup"],
  [/hung_task/, "hung-task"],
  [/RCU Stall/, "rcu-stall"],
  [/panic_on_warn/, null],
  [/Hard LOCKUP/i, "hard-lockup"],
  [/KASAN/, "kasan"],
  [/scheduling while atomic/, "atomic-sleep"],
];

/** A line before a report that says why it came. */
export const REASON =
  /^(?:list_(?:add|del) corruption.*|refcount_t: .*|usercopy: .*|detected buffer overflow in .*|kernel tried to execute (?:NX-protected|user) page.*|memcpy: detected.*|stack-protector: .*)/;
export const BOOT = /^Linux version (?<release>\S+)/;
export const HALTED = /^---\[ end Kernel panic/;
export const REBOOTED =
  /^(?:reboot: (?:Restarting|Power down|machine restart)|Rebooting in|SeaBIOS \(version|Booting from|BdsDxe:)/;
export const BOOT_FAILURE =
  /ALERT! .{0,200} does not exist|Entering emergency mode|You are in (?:emergency|rescue) mode|dracut-initqueue.{0,200}timeout|Give root password for maintenance|No bootable device|Dropping to a shell/;

/** Second lines of a fault that belong to the report which the line before began. */
export const CONTINUATIONS: ReadonlySet<string> = new Set([
  "oops",
  "invalid-opcode",
  "stack-overflow",
  "double-fault",
]);

/** Words of which any line that begins something has at least one: the cheap test that most lines fail. */
export const ANY_KEYWORD = new RegExp(
  [
    "BUG[: ]",
    "\\[#\\d",
    "Unable to handle",
    "SError",
    "stack (?:space|overflow|guard)",
    "double fault",
    "UBSAN:",
    "watchdog: ",
    "INFO: ",
    "WARNING: ",
    "oom-killer",
    "ut of memory",
    "NMI",
    "mce: ",
    "Kernel panic",
    "Oops",
    "Linux version ",
    "corruption",
    "refcount_t",
    "usercopy",
    "buffer overflow",
    "tried to execute",
    "memcpy: ",
    "stack-protector",
    "ebooting in",
    "reboot: ",
    "SeaBIOS",
    "Booting from",
    "BdsDxe",
    "ALERT!",
    "emergency",
    "rescue mode",
    "dracut-init",
    "root password",
    "No bootable",
    "to a shell",
    "---\\[ end",
  ].join("|"),
);
