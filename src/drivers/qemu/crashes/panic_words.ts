/**
 * What a Linux kernel is told to panic at, and how its command line tells it. The words are those of the kernel's own
 * admin-guide/kernel-parameters; `sysctl.` works from Linux 5.8 on.
 */

import type { PanicCause } from "../../../contract/crash_policy.ts";
import type { VmRecord } from "../records.ts";

const WORDS: Readonly<Record<PanicCause, string>> = {
  oops: "oops=panic",
  warn: "panic_on_warn=1",
  soft_lockup: "softlockup_panic=1",
  hung_task: "hung_task_panic=1",
  rcu_stall: "sysctl.kernel.panic_on_rcu_stall=1",
  oom: "sysctl.vm.panic_on_oom=1",
};

/** What a VM's kernel is to panic at. A policy that keeps crashes wants to hear of every oops. */
export function panicCauses(
  { on_crash, panic_on = [] }: Pick<VmRecord, "on_crash" | "panic_on">,
): PanicCause[] {
  return [...new Set<PanicCause>([...(on_crash === undefined ? [] : ["oops" as const]), ...panic_on])];
}

/** The same as words for the end of a kernel's command line. */
export function panicWords(record: Pick<VmRecord, "on_crash" | "panic_on">): string[] {
  return panicCauses(record).map((cause) => WORDS[cause]);
}
