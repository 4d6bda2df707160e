/** Finds out how the machine's page tables are built, by trying what must be mapped. */

import { isAbsence } from "../../memory/absence.ts";
import { AddressSpace } from "../../memory/address_space.ts";
import type { Paging } from "../../memory/page_tables.ts";
import type { PhysicalMemory } from "../../memory/physical.ts";
import { hexPointer } from "../../numbers.ts";
import type { DumpWarning } from "../../reasons.ts";
import type { ContextMachine } from "../context.ts";
import type { KernelHeader } from "../header.ts";
import { readDebuggerData } from "./debugger_data.ts";

/** A page shared by all processes, which every kernel maps at the same address. */
const SHARED_USER_DATA = { 64: 0xFFFFF78000000000n, 32: 0xFFDF0000n } as const;

/** An address space and how it was understood. */
export interface OpenedMemory {
  readonly memory: AddressSpace;
  readonly paging: Paging;
}

/**
 * The kernel's memory through the header's DirectoryTableBase. Of the ways of paging that the machine may have, the
 * one is taken that maps most of what the header names. Warns `bad_dtb` when none maps anything.
 */
export function openKernelMemory(
  physical: PhysicalMemory,
  machine: ContextMachine,
  header: KernelHeader,
  build: number | null,
  warnings: DumpWarning[],
): OpenedMemory {
  const directoryTableBase = header.directoryTableBase ?? 0n;
  let best: (OpenedMemory & { score: number }) | null = null;
  for (const paging of candidates(machine, header)) {
    const memory = new AddressSpace({ physical, paging, directoryTableBase, build });
    const score = scoreOf(memory, header);
    if (best === null || score > best.score) best = { memory, paging, score };
    if (score >= BEST_SCORE) break;
  }
  const [first] = candidates(machine, header);
  if (best === null) {
    return {
      memory: new AddressSpace({ physical, paging: first, directoryTableBase, build }),
      paging: first,
    };
  }
  if (best.score === 0) {
    warnings.push({
      reason: "bad_dtb",
      message: `The page tables at ${
        hexPointer(directoryTableBase, header.bits)
      } map neither the list of modules nor the shared user page, so addresses cannot be resolved`,
    });
  }
  return { memory: best.memory, paging: best.paging };
}

function candidates(machine: ContextMachine, header: KernelHeader): readonly [Paging, ...Paging[]] {
  if (machine === "arm64") return ["arm64"];
  if (machine === "x64") return ["x64", "x64-5level"];
  return header.paeEnabled === 0 ? ["x86", "x86-pae"] : ["x86-pae", "x86"];
}

const LIST_HEAD_SCORE = 2;
const BEST_SCORE = 6;

/** How much of what must be mapped is: a list head that leads back to itself, a debugger block, the shared page. */
function scoreOf(memory: AddressSpace, header: KernelHeader): number {
  let score = 0;
  const head = header.psLoadedModuleList;
  if (head !== null && leadsBack(memory, head)) score += LIST_HEAD_SCORE;
  else if (head !== null && memory.has(head)) score += 1;
  const block = header.kdDebuggerDataBlock;
  if (block !== null && readDebuggerData(memory, block).found === "plain") score += 3;
  if (!isAbsence(memory.translate(SHARED_USER_DATA[memory.bits]))) score += 1;
  return score;
}

/** Whether the first entry of a doubly linked list points back to its head. */
function leadsBack(memory: AddressSpace, head: bigint): boolean {
  const first = memory.pointer(head);
  if (first === undefined) return false;
  return memory.pointer(first + BigInt(memory.bits / 8)) === head;
}
