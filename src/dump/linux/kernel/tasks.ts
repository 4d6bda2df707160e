/** Tasks: processes, their threads, and those of the kernel. */

import type { DumpWarning } from "../../reasons.ts";
import type { Btf } from "./btf.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import { lostPart } from "./lost_part.ts";

/** One task. */
export interface KernelTask {
  readonly address: bigint;
  /** Number of the task itself, which `ps` calls thread id. */
  readonly pid: number;
  /** Number of its process. */
  readonly tgid: number;
  readonly comm: string;
  /** One letter as `ps` shows it; I is an idle thread of the kernel. */
  readonly state: "R" | "S" | "D" | "T" | "t" | "Z" | "X" | "I" | "?";
  readonly cpu: number;
  /** Whether it belongs to the kernel: it has no memory of its own. */
  readonly kernel: boolean;
  /** Its saved stack pointer, which holds while it is off the processor. */
  readonly stackPointer: bigint;
  /** The lowest address of its stack; null when the kernel's types do not say. */
  readonly stack: bigint | null;
}

const MOST_TASKS = 200_000;
const MOST_THREADS = 65_536;
const COMM_BYTES = 16;
const EXIT = { dead: 0x10, zombie: 0x20 } as const;
/** Uninterruptible and not counted as load: an idle thread of the kernel. */
const IDLE = 0x402;

/** Reads tasks of one kernel. */
export class TaskReader {
  readonly #memory: KernelMemory;
  readonly #btf: Btf;
  readonly #state: string;
  readonly #cpu: string;
  readonly #stackPointer: string;

  /** `stackPointer` says where a task keeps its own, which each kind of processor does elsewhere. */
  constructor(memory: KernelMemory, btf: Btf, stackPointer: string) {
    this.#memory = memory;
    this.#btf = btf;
    this.#stackPointer = stackPointer;
    this.#state = btf.has("task_struct.__state") ? "__state" : "state";
    this.#cpu = btf.has("task_struct.thread_info.cpu") ? "thread_info.cpu" : "cpu";
  }

  /** One task. Fails with `hv.bad_dump` (`missing_memory`, `btf`). */
  read(address: bigint): KernelTask {
    const field = (path: string) => address + BigInt(this.#btf.offset(`task_struct.${path}`));
    const number = (path: string) => this.#memory.i32(field(path), "a task");
    return {
      address,
      pid: number("pid"),
      tgid: number("tgid"),
      comm: this.#memory.text(field("comm"), COMM_BYTES, "the name of a task"),
      state: stateLetter(number(this.#state), number("exit_state")),
      cpu: number(this.#cpu),
      kernel: this.#memory.u64(field("mm"), "a task") === 0n,
      stackPointer: this.#memory.u64(field(this.#stackPointer), "a task"),
      stack: this.#btf.has("task_struct.stack") ? this.#memory.u64(field("stack"), "a task") : null,
    };
  }

  /** All tasks but the idle one of each processor, in the order of the kernel's list. Damage is a warning. */
  all(firstTask: bigint, warnings: DumpWarning[]): KernelTask[] {
    const inList = BigInt(this.#btf.offset("task_struct.tasks"));
    const { nodes, complete } = this.#memory.list(firstTask + inList, MOST_TASKS, "the list of tasks");
    const tasks: KernelTask[] = [];
    const unreadable: DumpWarning[] = [];
    const cut = new Set(complete ? [] : ["processes"]);
    for (const node of nodes) {
      const threads = lostPart(unreadable, () => this.#threadsOf(node - inList));
      if (threads?.complete === false) cut.add("threads");
      for (const thread of threads?.addresses ?? []) {
        const task = lostPart(unreadable, () => this.read(thread));
        if (task !== null) tasks.push(task);
        if (tasks.length + unreadable.length >= MOST_TASKS) break;
      }
      if (tasks.length + unreadable.length >= MOST_TASKS) break;
    }
    for (const what of cut) {
      warnings.push({
        reason: "kernel_list",
        message: `A list of ${what} ends without coming back to its head`,
      });
    }
    const [first] = unreadable;
    if (first !== undefined) {
      warnings.push({
        ...first,
        message: `${unreadable.length} tasks or processes are lost: ${first.message}`,
      });
    }
    return tasks;
  }

  #threadsOf(process: bigint): { addresses: bigint[]; complete: boolean } {
    const signal = this.#memory.u64(
      process + BigInt(this.#btf.offset("task_struct.signal")),
      "threads of a process",
    );
    const head = signal + BigInt(this.#btf.offset("signal_struct.thread_head"));
    const { nodes, complete } = this.#memory.list(head, MOST_THREADS, "threads of a process");
    const inside = BigInt(this.#btf.offset("task_struct.thread_node"));
    return { addresses: nodes.map((node) => node - inside), complete };
  }
}

function stateLetter(state: number, exit: number): KernelTask["state"] {
  if ((exit & EXIT.zombie) !== 0) return "Z";
  if ((exit & EXIT.dead) !== 0) return "X";
  if (state === 0) return "R";
  if ((state & IDLE) === IDLE) return "I";
  const letters = [[1, "S"], [2, "D"], [4, "T"], [8, "t"]] as const;
  return letters.find(([bit]) => (state & bit) !== 0)?.[1] ?? "?";
}
