/** The kernel's log out of its memory, whichever way this kernel keeps it. */

import { badDump } from "../../reasons.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import type { KernelLog } from "./log_record.ts";
import { readPrintkRecords } from "./printk_records.ts";
import { readPrintkRing } from "./printk_ring.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

/** Reads the whole log, oldest message first. Fails with `hv.bad_dump` when it cannot be read at all. */
export function readKernelLog(memory: KernelMemory, info: Vmcoreinfo): KernelLog {
  const ring = info.symbol("prb");
  if (ring !== null) return readPrintkRing(memory, info, ring);
  const buffer = info.symbol("log_buf");
  if (buffer !== null) return readPrintkRecords(memory, info, buffer);
  throw badDump("kernel_log", "VMCOREINFO does not say where the kernel log is");
}
