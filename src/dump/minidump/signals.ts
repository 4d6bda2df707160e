/** Names of the exceptions that crash reporters write on other platforms. */

const LINUX_SIGNALS: ReadonlyMap<number, string> = new Map([
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [5, "SIGTRAP"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [11, "SIGSEGV"],
  [15, "SIGTERM"],
  [31, "SIGSYS"],
  [0xFFFFFFFF, "DUMP_REQUESTED"],
]);

const MACH_EXCEPTIONS: ReadonlyMap<number, string> = new Map([
  [1, "EXC_BAD_ACCESS"],
  [2, "EXC_BAD_INSTRUCTION"],
  [3, "EXC_ARITHMETIC"],
  [5, "EXC_SOFTWARE"],
  [6, "EXC_BREAKPOINT"],
  [10, "EXC_CRASH"],
  [11, "EXC_RESOURCE"],
  [12, "EXC_GUARD"],
]);

/** Name of an exception code on a platform other than Windows, or null. */
export function signalName(platform: string, code: number): string | null {
  if (platform === "linux" || platform === "android") return LINUX_SIGNALS.get(code >>> 0) ?? null;
  if (platform === "macos" || platform === "ios") return MACH_EXCEPTIONS.get(code) ?? null;
  return null;
}

/** The exception that stands for a program's end by a signal. */
const CRASH = 10n;

/**
 * The signal by which a program of macOS ended: its exception then has no code of its own, and what it was told is the
 * first of its parameters. Null for anything else.
 */
export function machSignal(platform: string, code: number, parameters: readonly bigint[]): string | null {
  if ((platform !== "macos" && platform !== "ios") || code !== 0 || parameters[0] !== CRASH) return null;
  return MACH_SIGNALS.get(Number(((parameters[1] ?? 0n) >> 24n) & 0xFFn)) ?? null;
}

const MACH_SIGNALS: ReadonlyMap<number, string> = new Map([
  [4, "SIGILL"],
  [5, "SIGTRAP"],
  [6, "SIGABRT"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [10, "SIGBUS"],
  [11, "SIGSEGV"],
  [12, "SIGSYS"],
]);
