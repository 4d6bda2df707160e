/** x86-64: page tables of four or five levels, stacks walked by ORC. */

import { AddressSpace } from "../../memory/address_space.ts";
import { badDump } from "../../reasons.ts";
import { openOrcTables } from "../unwind/orc_tables.ts";
import { walkOrc } from "../unwind/orc_walk.ts";
import type { LinuxArchitecture } from "./architecture.ts";
import { frameRegisters } from "./x64_registers.ts";

/** Where the kernel's image begins without address randomization; symbols are moved, the physical base is not. */
const IMAGE_BASE = 0xFFFF_FFFF_8000_0000n;
/** What the stack of a task off the processor begins with: r15 r14 r13 r12 bx bp, then the return address. */
const SWITCH_FRAME = { bytes: 56, framePointer: 40, returnAddress: 48 } as const;

/** How its kernels are read. */
export const X64: LinuxArchitecture = {
  openSpace(physical, info) {
    const root = info.symbol("init_top_pgt") ?? info.symbol("swapper_pg_dir");
    if (root === null) throw badDump("vmcoreinfo", "VMCOREINFO names no page tables");
    return new AddressSpace({
      physical,
      paging: info.number("pgtable_l5_enabled") === 1n ? "x64-5level" : "x64",
      directoryTableBase: BigInt.asUintN(64, root - IMAGE_BASE + (info.number("phys_base") ?? 0n)),
      build: null,
      system: "linux",
      encryptionMask: info.number("sme_mask") ?? 0n,
    });
  },

  openWalk({ memory, info, types, symbols, modules, code }) {
    const sources = { types, symbols, modules, release: info.release };
    const tables = openOrcTables(memory, sources, code.image);
    const isCode = (address: bigint) => code.isCode(address);
    const ground = { memory, tables, isCode, knowsModules: types !== null };
    return (start, exact) => walkOrc(ground, start, exact);
  },

  taskStackPointer: "thread.sp",

  resume(memory, _types, { stackPointer }) {
    const bytes = memory.space.read(stackPointer, SWITCH_FRAME.bytes);
    if (bytes === undefined) return null;
    const saved = new DataView(bytes.buffer, bytes.byteOffset, SWITCH_FRAME.bytes);
    return frameRegisters(
      saved.getBigUint64(SWITCH_FRAME.returnAddress, true),
      stackPointer + BigInt(SWITCH_FRAME.bytes),
      saved.getBigUint64(SWITCH_FRAME.framePointer, true),
    );
  },

  printsCalls: true,

  // From Linux 6.2 to 6.14 the pointer is in `pcpu_hot`.
  currentTask: [
    { symbol: "pcpu_hot", member: "pcpu_hot.current_task" },
    { symbol: "current_task", member: null },
    { symbol: "const_current_task", member: null },
  ],
};
