/** ARM64: the kernel's own page tables (TTBR1) of any granule, stacks walked by frame records. */

import { AddressSpace } from "../../memory/address_space.ts";
import { type ArmGeometry, GranuleTables } from "../../memory/granule_tables.ts";
import { badDump } from "../../reasons.ts";
import type { Vmcoreinfo } from "../kernel/vmcoreinfo.ts";
import { walkFrameRecords } from "../unwind/frame_records.ts";
import type { LinuxArchitecture } from "./architecture.ts";
import { armFrameRegisters } from "./arm64_registers.ts";

/** Sizes of a page as powers of two, and the widest addresses that the kernel can have with each. */
const GRANULES: ReadonlyMap<number, number> = new Map([[4096, 12], [16_384, 14], [65_536, 16]]);
const ADDRESS_BITS = { from: 36, to: 52 } as const;

/** How its kernels are read. */
export const ARM64: LinuxArchitecture = {
  openSpace(physical, info) {
    const root = info.symbol("swapper_pg_dir");
    const offset = info.number("kimage_voffset");
    if (root === null || offset === null) {
      throw badDump(
        "vmcoreinfo",
        "VMCOREINFO does not say where the page tables are: it lacks swapper_pg_dir or kimage_voffset",
      );
    }
    const tables = new GranuleTables(physical, BigInt.asUintN(64, root - offset), geometryOf(info));
    return new AddressSpace({ physical, tables });
  },

  openWalk({ memory, info, types, code }) {
    const signature = info.number("KERNELPACMASK") ?? 0n;
    const ground = { memory, types, code, signature: BigInt.asUintN(64, signature) };
    return (start, exact) => walkFrameRecords(ground, start, exact);
  },

  taskStackPointer: "thread.cpu_context.sp",

  resume(memory, types, { address }) {
    const [pc, sp, fp] = ["pc", "sp", "fp"].map((name) =>
      memory.space.u64(address + BigInt(types.offset(`task_struct.thread.cpu_context.${name}`)))
    );
    return pc === undefined || sp === undefined || fp === undefined ? null : armFrameRegisters(pc, sp, fp);
  },

  printsCalls: false,

  // The task itself is in sp_el0, which no note holds; this is what the kernel loads it from.
  currentTask: [{ symbol: "__entry_task", member: null }],
};

/** How the kernel cuts addresses up. `VA_BITS` is what it was built for, T1SZ what this processor can do. */
function geometryOf(info: Vmcoreinfo): ArmGeometry {
  const pageShift = GRANULES.get(info.pageSize ?? 4096);
  const builtBits = Number(info.number("VA_BITS") ?? 48n);
  const unused = info.number("TCR_EL1_T1SZ");
  const addressBits = unused === null ? builtBits : 64 - Number(unused);
  const isUsable = (bits: number) => bits >= ADDRESS_BITS.from && bits <= ADDRESS_BITS.to;
  if (pageShift === undefined || !isUsable(builtBits) || !isUsable(addressBits)) {
    throw badDump(
      "vmcoreinfo",
      `VMCOREINFO states page tables that no processor has: pages of ${info.pageSize} bytes, addresses of ${addressBits} bits`,
    );
  }
  return { pageShift, builtBits, addressBits };
}
