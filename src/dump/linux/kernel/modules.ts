/** Loaded kernel modules: where they lie, their symbols, their unwind tables. */

import { badDump, type DumpWarning } from "../../reasons.ts";
import { hex64 } from "../../numbers.ts";
import { fieldText } from "../../text.ts";
import type { Btf } from "./btf.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import { lostPart } from "./lost_part.ts";
import { type ModuleSymbols, readModuleSymbols } from "./module_symbols.ts";

/** A run of kernel addresses. */
export interface AddressRange {
  readonly start: bigint;
  readonly size: number;
}

/** Where unwind tables lie. */
export interface OrcPlace {
  readonly addresses: bigint;
  readonly rows: bigint;
  readonly count: number;
}

/** One module. */
export interface KernelModule {
  readonly name: string;
  /** Start of its code that stays. */
  readonly base: bigint;
  /** What `lsmod` shows: the parts that stay. */
  readonly size: number;
  readonly taints: bigint;
  readonly buildId: string | null;
  /** Everything that it occupies, the parts for its start as well while it loads. */
  readonly ranges: readonly AddressRange[];
  readonly code: readonly AddressRange[];
  readonly orc: OrcPlace | null;
  /** Read when they are first asked for; null when they are not in the dump. */
  readonly symbols: () => ModuleSymbols | null;
}

const MOST_MODULES = 4096;
const LONGEST_NAME = 56;
const LARGEST_PART = 2 ** 30;
const BUILD_ID_BYTES = 20;
/** `mem[]` since Linux 6.4: text, data, read-only data, read-only after init, then the three parts for the start. */
const PARTS = { count: 7, staying: 4, code: [0, 4] } as const;

/** All modules, the newest first. What is damaged is left out with a warning. */
export function readModules(
  memory: KernelMemory,
  btf: Btf,
  head: bigint,
  warnings: DumpWarning[],
): KernelModule[] {
  const { nodes, complete } = memory.list(head, MOST_MODULES, "the list of modules");
  const inside = BigInt(btf.offset("module.list"));
  const modules: KernelModule[] = [];
  for (const node of nodes) {
    const module = lostPart(warnings, () => readModule(memory, btf, node - inside, warnings));
    if (module !== null) modules.push(module);
  }
  if (!complete) {
    warnings.push({
      reason: "kernel_list",
      message: `The list of modules ends after ${nodes.length} without coming back to its head`,
    });
  }
  return modules;
}

function readModule(memory: KernelMemory, btf: Btf, address: bigint, warnings: DumpWarning[]): KernelModule {
  const field = (path: string) => address + BigInt(btf.offset(`module.${path}`));
  const name = memory.rawText(field("name"), LONGEST_NAME, "the name of a module");
  if (!/^[\w.-]+$/.test(name)) {
    throw badDump("kernel_list", `A module at ${hex64(address)} has the name "${fieldText(name)}"`);
  }
  const layout = btf.has("module.mem") ? newLayout(memory, btf, address) : oldLayout(memory, btf, address);
  let symbols: { value: ModuleSymbols | null } | null = null;
  return {
    name,
    ...layout,
    taints: memory.u64(field("taints"), `taints of ${name}`),
    buildId: btf.has("module.build_id") ? buildIdOf(memory, field("build_id")) : null,
    orc: orcOf(memory, btf, address),
    symbols: () =>
      (symbols ??= {
        value: lostPart(warnings, () => readModuleSymbols(memory, btf, field("kallsyms"), name)),
      }).value,
  };
}

type Layout = Pick<KernelModule, "base" | "size" | "ranges" | "code">;

function newLayout(memory: KernelMemory, btf: Btf, address: bigint): Layout {
  const stride = btf.size("module_memory");
  const start = address + BigInt(btf.offset("module.mem"));
  const base = BigInt(btf.offset("module_memory.base"));
  const size = BigInt(btf.offset("module_memory.size"));
  const parts = Array.from({ length: PARTS.count }, (_, index): AddressRange => {
    const part = start + BigInt(index * stride);
    return {
      start: memory.u64(part + base, "a part of a module"),
      size: memory.u32(part + size, "a part of a module"),
    };
  });
  return {
    base: parts[0]?.start ?? 0n,
    size: parts.slice(0, PARTS.staying).reduce((sum, part) => sum + part.size, 0),
    ranges: parts.filter(isUsed),
    code: PARTS.code.flatMap((index) => parts[index] ?? []).filter(isUsed),
  };
}

function oldLayout(memory: KernelMemory, btf: Btf, address: bigint): Layout {
  const parts = ["core_layout", "init_layout"].map((name) => {
    const part = address + BigInt(btf.offset(`module.${name}`));
    const number = (field: string) =>
      memory.u32(part + BigInt(btf.offset(`module_layout.${field}`)), "a part of a module");
    return {
      start: memory.u64(part + BigInt(btf.offset("module_layout.base")), "a part of a module"),
      size: number("size"),
      text: number("text_size"),
    };
  });
  return {
    base: parts[0]?.start ?? 0n,
    size: parts[0]?.size ?? 0,
    ranges: parts.filter(isUsed),
    code: parts.map(({ start, text }) => ({ start, size: text })).filter(isUsed),
  };
}

function isUsed({ start, size }: AddressRange): boolean {
  return start !== 0n && size > 0 && size < LARGEST_PART;
}

function orcOf(memory: KernelMemory, btf: Btf, address: bigint): OrcPlace | null {
  if (!btf.has("module.arch.num_orcs")) return null;
  const pointer = (field: string) =>
    memory.u64(address + BigInt(btf.offset(`module.arch.${field}`)), "a module's unwind tables");
  const count = memory.u32(address + BigInt(btf.offset("module.arch.num_orcs")), "a module's unwind tables");
  return count === 0 ? null : { addresses: pointer("orc_unwind_ip"), rows: pointer("orc_unwind"), count };
}

function buildIdOf(memory: KernelMemory, address: bigint): string | null {
  const bytes = memory.space.read(address, BUILD_ID_BYTES);
  if (bytes === undefined || bytes.every((byte) => byte === 0)) return null;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
