/** Who is to blame for a Linux crash: the same rules for a core and for console text. */

import { isCarrier } from "../console/bucket.ts";

/** What the rules look at of a frame. */
export interface BlamedFrame {
  readonly name: string | null;
  /** Null for the kernel's own code. */
  readonly module: string | null;
}

/** The frame to blame and why. */
export interface LinuxBlame {
  /** Number of the frame. */
  readonly frame: number;
  readonly confidence: "high" | "medium" | "low";
  readonly rule: "exception_address" | "context" | "stack" | "kernel";
  readonly evidence: string;
}

/** They say themselves what went wrong; no function of theirs is to blame. */
const BLAMELESS: ReadonlySet<string> = new Set([
  "init-killed",
  "no-root",
  "no-init",
  "sysrq-crash",
  "oom-panic",
  "oom-kill",
  "oom",
  "nmi",
  "mce",
  "none",
  "unknown",
]);
/** Classes in which the innermost function was executing when it failed. */
const EXECUTING: ReadonlySet<string> = new Set([
  "null-deref",
  "page-fault",
  "gpf",
  "divide-error",
  "bug",
  "invalid-opcode",
  "trap",
  "warning",
  "stack-overflow",
]);
const STUCK: ReadonlySet<string> = new Set(["soft-lockup", "hard-lockup", "rcu-stall", "hang"]);

/** Blames the first frame that does not only carry the news; a module before the kernel's own code. Null for nobody. */
export function blameLinux(kind: string, frames: readonly BlamedFrame[]): LinuxBlame | null {
  if (BLAMELESS.has(kind)) return null;
  const first = frames.findIndex(({ name }) => name === null || !isCarrier(name));
  if (first < 0) return null;
  const module = frames.findIndex((frame) => frame.module !== null);
  if (module >= 0 && module === first) {
    if (first === 0 && EXECUTING.has(kind)) {
      return { frame: first, confidence: "high", rule: "exception_address", evidence: "the fault is in it" };
    }
    if (first === 0 && STUCK.has(kind)) {
      return { frame: first, confidence: "high", rule: "context", evidence: "the processor was in it" };
    }
    return {
      frame: first,
      confidence: "medium",
      rule: "stack",
      evidence: "the innermost function that does not only report, check or wait",
    };
  }
  if (module >= 0) {
    return {
      frame: module,
      confidence: "medium",
      rule: "stack",
      evidence: "the first module on the stack, below the kernel's own functions",
    };
  }
  return { frame: first, confidence: "low", rule: "kernel", evidence: "no module is on the stack" };
}
