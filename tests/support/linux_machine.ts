/**
 * Writes the memory of a small Linux machine, with offsets of its own: page tables, symbols, types, tasks, a module,
 * unwind data and a log. It shares nothing with the readers.
 */

import { BtfWriter } from "./btf_writer.ts";
import { DumpBytes, joinBytes } from "./dump_writer.ts";
import { IMAGE, LinuxMemory } from "./linux_memory.ts";

/** Where each part lies. The image maps physical memory from 0 on, all else takes pages from 64 MiB on. */
export const PLACES = {
  tables: IMAGE + 0x100_0000n,
  text: IMAGE + 0x110_0000n,
  data: IMAGE + 0x120_0000n,
  names: IMAGE + 0x130_0000n,
  tokens: IMAGE + 0x140_0000n,
  tokenIndex: IMAGE + 0x141_0000n,
  offsets: IMAGE + 0x142_0000n,
  types: IMAGE + 0x150_0000n,
  orcAddresses: IMAGE + 0x160_0000n,
  orcRows: IMAGE + 0x161_0000n,
  log: IMAGE + 0x170_0000n,
  tasks: 0xFFFF_8880_0000_0000n,
  stack: 0xFFFF_C900_0000_0000n,
  module: 0xFFFF_FFFF_C000_0000n,
} as const;

/** How symbol addresses are named. */
export type Encoding = "percpu-absolute" | "unsigned" | "place-relative";
/** How unwind rows are named. */
export type OrcForm = "end_bit" | "end_bit_behind_signal" | "end_type" | "end_type_new_registers";

/** What of the machine differs from test to test. */
export interface MachineOptions {
  readonly encoding?: Encoding;
  readonly orc?: OrcForm;
  /** Lines of the log. */
  readonly log?: readonly string[];
  /** Which symbols the kernel has; all when left out. */
  readonly symbols?: (name: string) => boolean;
  /** How far it says that it was moved at its start. */
  readonly moved?: bigint;
  /** Writes into the memory after all else. */
  readonly damage?: (machine: LinuxMachine) => void;
}

const FUNCTIONS = [
  ["_stext", 0x0],
  ["panic", 0x1000],
  ["oops_end", 0x1100],
  ["asm_exc_page_fault", 0x1200],
  ["victim", 0x1300],
  ["caller", 0x1400],
  ["entry", 0x1500],
  ["_etext", 0x1F00],
] as const;
export const DATA = {
  init_task: PLACES.data + 0x300n,
  modules: PLACES.data,
  panic_cpu: PLACES.data + 0x40n,
  tainted_mask: PLACES.data + 0x48n,
  __per_cpu_offset: PLACES.data + 0x100n,
  current_task: PLACES.data + 0x200n,
} as const;
const FILLERS = 1100;
/** Offsets in the structures of this machine. */
export const TASK = {
  state: 0x10,
  tasks: 0x20,
  pid: 0x40,
  tgid: 0x44,
  exit: 0x48,
  comm: 0x50,
  mm: 0x60,
  signal: 0x68,
  node: 0x70,
  sp: 0x88,
  cpu: 0x90,
  size: 0x100,
} as const;
const SIGNAL = { head: 0x10, size: 0x40 } as const;
export const MODULE = {
  list: 8,
  name: 0x18,
  state: 0x50,
  taints: 0x58,
  mem: 0x60,
  kallsyms: 0x140,
  orc: 0x150,
  size: 0x180,
};
const PART = { base: 0, size: 8, stride: 0x18 } as const;

/** One machine, put together piece by piece. */
export class LinuxMachine extends LinuxMemory {
  /** Its symbols with their addresses. */
  readonly symbols: [name: string, address: bigint][] = [];
  readonly #moved: bigint;

  constructor(options: MachineOptions = {}) {
    super(PLACES.tables, PLACES.module);
    this.#moved = options.moved ?? 0n;
    this.#writeSymbols(
      options.encoding ?? "percpu-absolute",
      options.orc ?? "end_bit",
      options.symbols ?? (() => true),
    );
    this.#writeTypes(options.orc ?? "end_bit");
    this.#writeTasks();
    this.#writeModule();
    this.#writeOrc(options.orc ?? "end_bit");
    this.#writeStack();
    this.#writeLog(
      options.log ??
        ["Linux version 6.1.0-test", "BUG: kernel NULL pointer dereference, address: 0000000000000018"],
    );
    options.damage?.(this);
  }

  /** Text of VMCOREINFO. */
  get vmcoreinfo(): string {
    const symbol = (name: string, value: bigint) => `SYMBOL(${name})=${value.toString(16)}`;
    return [
      "OSRELEASE=6.1.0-test",
      "BUILD-ID=00112233445566778899aabbccddeeff00112233",
      `KERNELOFFSET=${this.#moved.toString(16)}`,
      "PAGESIZE=4096",
      symbol("init_top_pgt", PLACES.tables),
      symbol("_stext", PLACES.text),
      "NUMBER(phys_base)=0",
      "NUMBER(pgtable_l5_enabled)=0",
      symbol("kallsyms_names", PLACES.names),
      symbol("kallsyms_num_syms", PLACES.names - 8n),
      symbol("kallsyms_token_table", PLACES.tokens),
      symbol("kallsyms_token_index", PLACES.tokenIndex),
      symbol("kallsyms_offsets", PLACES.offsets),
      symbol("kallsyms_relative_base", PLACES.offsets - 8n),
      symbol("prb", PLACES.log),
      "OFFSET(printk_ringbuffer.desc_ring)=0",
      "OFFSET(printk_ringbuffer.text_data_ring)=64",
      "OFFSET(prb_desc_ring.count_bits)=0",
      "OFFSET(prb_desc_ring.descs)=8",
      "OFFSET(prb_desc_ring.infos)=16",
      "OFFSET(prb_desc_ring.head_id)=24",
      "OFFSET(prb_desc_ring.tail_id)=32",
      "SIZE(prb_desc)=24",
      "OFFSET(prb_desc.state_var)=0",
      "OFFSET(prb_desc.text_blk_lpos)=8",
      "SIZE(printk_info)=88",
      "OFFSET(printk_info.ts_nsec)=8",
      "OFFSET(printk_info.text_len)=16",
      "OFFSET(prb_data_ring.size_bits)=0",
      "OFFSET(prb_data_ring.data)=8",
    ].join("\n") + "\n";
  }

  /** NT_PRSTATUS of its only processor, which stands in panic(). */
  get registers(): Uint8Array {
    const note = new DumpBytes(336);
    return note.u32(32, 1).u64(112 + 4 * 8, 0n).u64(
      112 + 16 * 8,
      PLACES.text + 0x1010n,
      0x10n,
      0x202n,
      PLACES.stack + 0x3000n,
      0x18n,
    ).bytes;
  }

  #writeSymbols(encoding: Encoding, orc: OrcForm, has: (name: string) => boolean): void {
    const all: [string, bigint][] = [
      ...FUNCTIONS.map(([name, offset]): [string, bigint] => [name, PLACES.text + BigInt(offset)]),
      ...Object.entries(DATA),
      ["__start_BTF", PLACES.types],
      ["__start_orc_unwind_ip", PLACES.orcAddresses],
      ["__start_orc_unwind", PLACES.orcRows],
    ];
    for (let index = 0; index < FILLERS; index++) {
      all.push([`filler_${index}`, PLACES.data + 0x8000n + BigInt(16 * index)]);
    }
    all.push(["__stop_BTF", PLACES.types + BigInt(this.#types(orc).length)]);
    all.push(["__stop_orc_unwind_ip", PLACES.orcAddresses + 4n * BigInt(ROWS.length)]);
    const named = all.filter(([name]) => has(name));
    this.symbols.push(...named);
    const names = named.map(([name]) => {
      const text = `T${name}`;
      return joinBytes(Uint8Array.of(text.length), new TextEncoder().encode(text));
    });
    this.put(PLACES.names, joinBytes(...names)).u32(PLACES.names - 8n, named.length);
    const base = PLACES.text;
    const offsets = new DumpBytes(4 * named.length);
    named.forEach(([, address], index) => {
      const value = encoding === "percpu-absolute"
        ? base - 1n - address
        : encoding === "unsigned"
        ? address - base
        : address - (PLACES.offsets + BigInt(4 * index));
      offsets.u32(4 * index, Number(BigInt.asUintN(32, value)));
    });
    this.put(PLACES.offsets, offsets.bytes).u64(PLACES.offsets - 8n, base);
    const tokens = Array.from(
      { length: 256 },
      (_, code) =>
        new TextEncoder().encode(
          `${code >= 0x21 && code < 0x7F ? String.fromCharCode(code) : `<${code}>`}\0`,
        ),
    );
    const index = new DumpBytes(512);
    tokens.reduce((position, token, code) => {
      index.u16(2 * code, position);
      return position + token.length;
    }, 0);
    this.put(PLACES.tokens, joinBytes(...tokens, new Uint8Array(64))).put(PLACES.tokenIndex, index.bytes);
  }

  #types(orc: OrcForm): Uint8Array {
    const types = new BtfWriter();
    const number = types.integer("u64", 8);
    const thread = types.structure("thread_struct", 16, [["sp", 8, number]]);
    const info = types.structure("thread_info", 8, [["cpu", 0, number]]);
    types.structure("task_struct", TASK.size, [
      ["__state", TASK.state, number],
      ["tasks", TASK.tasks, number],
      ["pid", TASK.pid, number],
      ["tgid", TASK.tgid, number],
      ["exit_state", TASK.exit, number],
      ["comm", TASK.comm, number],
      ["mm", TASK.mm, number],
      ["signal", TASK.signal, number],
      ["thread_node", TASK.node, number],
      ["thread", TASK.sp - 8, thread],
      // Reached through an anonymous member.
      ["", TASK.cpu, types.structure("", 8, [["thread_info", 0, info]])],
    ]);
    types.structure("signal_struct", SIGNAL.size, [["thread_head", SIGNAL.head, number]]);
    types.structure("module_memory", PART.stride, [["base", PART.base, number], ["size", PART.size, number]]);
    const arch = types.structure("mod_arch_specific", 0x18, [
      ["num_orcs", 0, number],
      ["orc_unwind_ip", 8, number],
      ["orc_unwind", 0x10, number],
    ]);
    types.structure("module", MODULE.size, [
      ["list", MODULE.list, number],
      ["name", MODULE.name, number],
      ["state", MODULE.state, number],
      ["taints", MODULE.taints, number],
      ["mem", MODULE.mem, number],
      ["kallsyms", MODULE.kallsyms, number],
      ["arch", MODULE.orc, types.alias("mod_arch", arch)],
    ]);
    types.structure("mod_kallsyms", 0x20, [
      ["symtab", 0, number],
      ["num_symtab", 8, number],
      ["strtab", 0x10, number],
    ]);
    types.bitStructure("orc_entry", 6, [
      ["type", 40, orc.startsWith("end_type") ? 3 : 2, number],
      [orc === "end_bit" ? "end" : "signal", 43, 1, number],
    ]);
    return types.bytes();
  }

  #writeTypes(orc: OrcForm): void {
    this.put(PLACES.types, this.#types(orc));
  }

  /** A task in the list behind `before`, with a signal structure that lists only itself. */
  #writeTask(address: bigint, before: bigint, next: bigint, pid: number, comm: string): void {
    const signal = address + BigInt(TASK.size);
    const task = new DumpBytes(TASK.size).u32(TASK.pid, pid, pid).text(TASK.comm, comm)
      .u64(TASK.tasks, next + BigInt(TASK.tasks), before + BigInt(TASK.tasks))
      .u64(TASK.signal, signal).u64(TASK.node, signal + BigInt(SIGNAL.head), signal + BigInt(SIGNAL.head))
      .u64(TASK.sp, PLACES.stack + 0x7000n);
    const node = address + BigInt(TASK.node);
    this.put(address, task.bytes).put(signal, new DumpBytes(SIGNAL.size).u64(SIGNAL.head, node, node).bytes);
  }

  /** init_task and two others, the first of which the processor runs. */
  #writeTasks(): void {
    const first = DATA.init_task;
    const [shell, sleeper] = [PLACES.tasks, PLACES.tasks + 0x400n];
    this.#writeTask(first, sleeper, shell, 0, "swapper/0");
    this.#writeTask(shell, first, sleeper, 42, "sh");
    this.#writeTask(sleeper, shell, first, 43, "sleeper");
    this.u32(sleeper + BigInt(TASK.state), 2);
    this.u64(DATA.__per_cpu_offset, 0n).u64(DATA.current_task, shell);
    this.u32(DATA.panic_cpu, 0).u64(DATA.tainted_mask, 1n << 12n);
  }

  #writeModule(): void {
    const structure = PLACES.tasks + 0x1000n;
    const [symbols, strings] = [PLACES.tasks + 0x2000n, PLACES.tasks + 0x2800n];
    const node = structure + BigInt(MODULE.list);
    this.u64(DATA.modules, node, node);
    const module = new DumpBytes(MODULE.size).u64(MODULE.list, DATA.modules, DATA.modules).text(
      MODULE.name,
      "mymod",
    )
      .u64(MODULE.taints, 1n << 12n).u64(MODULE.kallsyms, structure + BigInt(MODULE.size))
      .u64(MODULE.mem, PLACES.module).u32(MODULE.mem + PART.size, 0x1000)
      .u32(MODULE.orc, ROWS.length).u64(
        MODULE.orc + 8,
        PLACES.orcAddresses + 0x800n,
        PLACES.orcRows + 0x800n,
      );
    this.put(structure, module.bytes);
    this.u64(structure + BigInt(MODULE.size), symbols, 2n, strings);
    this.put(
      symbols,
      new DumpBytes(48).u32(24, 1).u16(24 + 6, 1).u64(24 + 8, PLACES.module + 0x100n).bytes,
    );
    this.put(strings, new DumpBytes(32).text(1, "mymod_fault").bytes);
    this.put(PLACES.module, new DumpBytes(0x200).bytes);
  }

  #writeOrc(form: OrcForm): void {
    const write = (addresses: bigint, rows: bigint, text: bigint, list: readonly Row[]) => {
      list.forEach((row, index) => {
        const place = addresses + BigInt(4 * index);
        this.u32(place, Number(BigInt.asUintN(32, text + BigInt(row.at) - place)));
        this.put(
          rows + BigInt(6 * index),
          new DumpBytes(6).u16(0, row.offset & 0xFFFF, 0, wordOf(row, form)).bytes,
        );
      });
    };
    write(PLACES.orcAddresses, PLACES.orcRows, PLACES.text, ROWS);
    write(PLACES.orcAddresses + 0x800n, PLACES.orcRows + 0x800n, PLACES.module, MODULE_ROWS);
  }

  /** panic <- oops_end <- asm_exc_page_fault, saved registers of mymod_fault <- caller <- entry, from a program. */
  #writeStack(): void {
    const stack = PLACES.stack;
    this.put(stack, new Uint8Array(0x8000));
    const saved = stack + 0x3020n;
    this.u64(stack + 0x3000n, PLACES.text + 0x1110n);
    this.u64(stack + 0x3008n, PLACES.text + 0x1210n);
    this.u64(stack + 0x3010n, 0n, 0n);
    // asm_exc_page_fault is entered at 0x3010: its row finds the registers 16 above.
    this.u64(saved + 16n * 8n, PLACES.module + 0x108n, 0x10n, 0x202n, stack + 0x4000n, 0x18n);
    this.u64(stack + 0x4000n, PLACES.text + 0x1410n);
    this.u64(stack + 0x4008n, PLACES.text + 0x1510n);
    this.u64(stack + 0x4010n + 16n * 8n, 0x40_1000n, 0x33n, 0x202n, 0x7FFF_0000n, 0x2Bn);
    this.u64(stack + 0x7000n, 0n, 0n, 0n, 0n, 0n, 0n, PLACES.text + 0x1410n, PLACES.text + 0x1510n);
    this.u64(stack + 0x7040n + 16n * 8n, 0x40_1000n, 0x33n, 0x202n, 0x7FFF_0000n, 0x2Bn);
  }

  #writeLog(lines: readonly string[]): void {
    const [descriptors, infos, text] = [PLACES.log + 0x1000n, PLACES.log + 0x2000n, PLACES.log + 0x4000n];
    const ring = PLACES.log + 0x100n;
    this.u64(PLACES.log, ring).u32(ring, 4);
    this.u64(ring + 8n, descriptors, infos, BigInt(lines.length - 1), 0n);
    this.u32(ring + 64n, 12).u64(ring + 72n, text);
    this.put(descriptors, new Uint8Array(24 * 16)).put(infos, new Uint8Array(88 * 16)).put(
      text,
      new Uint8Array(4096),
    );
    let at = 0;
    lines.forEach((line, index) => {
      const bytes = new TextEncoder().encode(line);
      const next = at + 8 + Math.ceil(bytes.length / 8) * 8;
      this.u64(descriptors + BigInt(24 * index), (2n << 62n) | BigInt(index), BigInt(at), BigInt(next));
      this.put(
        infos + BigInt(88 * index),
        new DumpBytes(88).u64(8, BigInt(index) * 1_000_000_000n + 1999n).u16(16, bytes.length).u8(19, 3 << 5)
          .bytes,
      );
      this.put(text + BigInt(at), joinBytes(new DumpBytes(8).u64(0, BigInt(index)).bytes, bytes));
      at = next;
    });
  }
}

/** An unwind row: where it begins, how the caller's stack pointer is found, what lies there. */
interface Row {
  readonly at: number;
  readonly offset: number;
  readonly type: "call" | "regs";
}

const ROWS: readonly Row[] = [
  { at: 0x0, offset: 8, type: "call" },
  { at: 0x1000, offset: 8, type: "call" },
  { at: 0x1100, offset: 8, type: "call" },
  { at: 0x1200, offset: 16, type: "regs" },
  { at: 0x1300, offset: 8, type: "call" },
  { at: 0x1400, offset: 8, type: "call" },
  { at: 0x1500, offset: 0, type: "regs" },
];
const MODULE_ROWS: readonly Row[] = [
  { at: 0x0, offset: 8, type: "call" },
  { at: 0x100, offset: 8, type: "call" },
  { at: 0x180, offset: 8, type: "call" },
  { at: 0x190, offset: 8, type: "call" },
  { at: 0x1A0, offset: 8, type: "call" },
  { at: 0x1B0, offset: 8, type: "call" },
  { at: 0x1C0, offset: 8, type: "call" },
];

/** The numbers of sp and of each type in every form. */
function wordOf({ type }: Row, form: OrcForm): number {
  const sp = form === "end_type_new_registers" ? 3 : 5;
  if (form.startsWith("end_type")) return sp | ((type === "call" ? 2 : 3) << 8);
  return sp | ((type === "call" ? 0 : 1) << 8);
}
