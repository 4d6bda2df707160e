/** The stop code, from the header and from the kernel's own variable. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import type { BugCheck } from "../../session.ts";
import type { KernelHeader } from "../header.ts";
import type { DebuggerData } from "./debugger_data.ts";

/** The bug check; null when there was none (code 0) or the header does not tell. */
export function readBugCheck(
  memory: VirtualMemory,
  header: KernelHeader,
  data: DebuggerData | null,
): BugCheck | null {
  const code = header.bugCheckCode;
  if (code === null || code === 0) return null;
  const [first, second, third, fourth] = header.bugCheckParameters.map((value) => value ?? 0n);
  const parameters = [first ?? 0n, second ?? 0n, third ?? 0n, fourth ?? 0n] as const;
  return { code, parameters, confirmed: isConfirmed(memory, data, [BigInt(code), ...parameters]) };
}

function isConfirmed(
  memory: VirtualMemory,
  data: DebuggerData | null,
  expected: readonly bigint[],
): boolean | null {
  const address = data?.variable("bug_check_data") ?? null;
  if (address === null) return null;
  const width = BigInt(memory.bits / 8);
  const found = expected.map((_, index) => memory.pointer(address + BigInt(index) * width));
  if (found.includes(undefined)) return null;
  return expected.every((value, index) => value === found[index]);
}
