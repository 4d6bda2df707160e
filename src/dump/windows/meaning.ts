/** What the numbers of a Windows header mean: names of machines, products, attributes, parts and kinds. */

import { hex } from "../numbers.ts";

const MACHINES = new Map<number, string>([
  [0x014C, "x86"],
  [0x01C4, "arm"],
  [0x0200, "ia64"],
  [0x8664, "x64"],
  [0xAA64, "arm64"],
]);

/** Processor family of a MachineImageType; an unknown one as `unknown(0x..)`. */
export function machineName(type: number | null): string | null {
  return type === null ? null : MACHINES.get(type) ?? `unknown(${hex(type)})`;
}

/** Names of the body's form by DumpType; 7 is a setting's number that a few writers copy. */
const DUMP_KINDS = new Map<number, string>([
  [1, "full"],
  [2, "kernel_summary"],
  [3, "header_only"],
  [4, "triage"],
  [5, "bitmap_full"],
  [6, "bitmap_kernel"],
  [7, "automatic"],
  [8, "rdmp_kernel"],
  [9, "rdmp_kernel_user"],
  [0xA, "rdmp_complete"],
]);

/** Name of a DumpType; `unknown(0x..)` for a new one, `unknown` when the field was never written. */
export function dumpKindName(type: number | null): string {
  return type === null ? "unknown" : DUMP_KINDS.get(type) ?? `unknown(${hex(type)})`;
}

const PRODUCTS = new Map<number, string>([[1, "workstation"], [2, "domain_controller"], [3, "server"]]);

/** Name of a ProductType. */
export function productName(type: number | null): string | null {
  return type === null ? null : PRODUCTS.get(type) ?? `unknown(${hex(type)})`;
}

/** Names of set bits in ascending order; a bit without a name is `bitN`, so that nothing is lost. */
export function bitNames(value: number, names: ReadonlyMap<number, string>): string[] {
  const found: string[] = [];
  for (let bit = 0; bit < 32; bit++) {
    if ((value >>> bit) & 1) found.push(names.get(bit) ?? `bit${bit}`);
  }
  return found;
}

/** Bits of Attributes; bit 12 was inferred from published analysis logs. */
export const ATTRIBUTE_BITS: ReadonlyMap<number, string> = new Map([
  [0, "hiber_crash"],
  [1, "dump_device_power_off"],
  [2, "insufficient_dump_file_size"],
  [3, "kernel_generated_triage_dump"],
  [4, "live_dump"],
  [5, "generated_offline"],
  [6, "filtered"],
  [7, "early_boot_crash"],
  [8, "encrypted"],
  [9, "decrypted"],
  [12, "writer_diagnostics"],
]);

/** Numbers of the bits that the inspection itself acts on. */
export const ATTRIBUTE = {
  kernelTriage: 3,
  live: 4,
  filtered: 6,
  encrypted: 8,
  decrypted: 9,
  writerDiagnostics: 12,
} as const;

/** Whether a bit is set; null when the attributes were never written. */
export function hasAttribute(attributes: number | null, bit: number): boolean | null {
  return attributes === null ? null : ((attributes >>> bit) & 1) === 1;
}

/** Bits of SuiteMask. */
export const SUITE_BITS: ReadonlyMap<number, string> = new Map([
  [0, "small_business"],
  [1, "enterprise"],
  [4, "terminal"],
  [6, "embedded"],
  [7, "data_center"],
  [8, "single_user_terminal"],
  [9, "home"],
  [10, "blade"],
  [13, "storage"],
  [14, "compute_cluster"],
  [15, "home_server"],
  [17, "multi_session"],
]);

/** Bits of MiniDumpFields: which parts a triage dump holds. */
export const TRIAGE_PART_BITS: ReadonlyMap<number, string> = new Map([
  [0, "context"],
  [1, "exception"],
  [2, "prcb"],
  [3, "process"],
  [4, "thread"],
  [5, "stack"],
  [6, "driver_list"],
  [7, "broken_driver"],
  [8, "memory_manager"],
  [9, "data_page"],
  [10, "debugger_data"],
  [11, "data_blocks"],
]);

/** `free` or `checked`: what MajorVersion really says. It is not the version of Windows. */
export function buildKind(majorVersion: number | null): string | null {
  if (majorVersion === null) return null;
  if (majorVersion === 15) return "free";
  return majorVersion === 12 ? "checked" : `unknown(${hex(majorVersion)})`;
}
