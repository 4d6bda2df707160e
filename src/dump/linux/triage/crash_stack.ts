/** Which stack of a crashed machine tells the story, and where on it the story begins. */

import type { Frame, WalkEnd } from "../../unwind/frame.ts";
import type { Walk } from "../../unwind/walk.ts";
import type { RegisterContext } from "../../windows/context.ts";
import { baseName } from "../console/bucket.ts";
import type { ConsoleFindings } from "../console/parse.ts";
import type { LinuxPlace } from "../kernel/code_map.ts";
import type { LinuxKernel, LinuxProcessor } from "../kernel/kernel.ts";
import type { KernelTask } from "../kernel/tasks.ts";

/** A frame and the function that it is of. */
export interface LinuxFrame {
  readonly frame: Frame;
  readonly place: LinuxPlace;
}

/** Where a crash stack begins. */
export type StackOrigin =
  /** What an exception, interrupt or NMI cut off. */
  | "exception"
  /** The caller of panic(). */
  | "panic"
  /** Where a sleeping task waits. */
  | "blocked_task"
  /** Where the processor was at the moment of the dump. */
  | "processor";

/** The stack of the crash. */
export interface CrashStack {
  /** The class of the crash, as the console rules name it; `hang` or `none` when nothing was said. */
  readonly kind: string;
  readonly origin: StackOrigin;
  readonly frames: readonly LinuxFrame[];
  readonly end: WalkEnd;
  readonly task: KernelTask | null;
  readonly cpu: number | null;
  /** Registers of the interrupted place; null where none were saved. */
  readonly registers: RegisterContext | null;
}

/** Classes in which another processor notices that one is stuck. */
const STUCK: ReadonlySet<string> = new Set(["soft-lockup", "hard-lockup", "rcu-stall"]);
const PANIC: ReadonlySet<string> = new Set(["panic", "__panic", "vpanic"]);
/** They stand between an exception and panic() when the exception is the reason, and not what panicked inside it. */
const REASONS: ReadonlySet<string> = new Set([
  "oops_end",
  "__warn",
  "die",
  "die_addr",
  "__die",
  "page_fault_oops",
  "no_context",
  "report_bug",
  "nmi_panic",
  "unknown_nmi_error",
  "default_do_nmi",
  "exc_double_fault",
  "handle_stack_overflow",
  "panic_on_rcu_stall",
  "rcu_sched_clock_irq",
  "watchdog_timer_fn",
  "watchdog_overflow_callback",
  "mce_panic",
  "do_machine_check",
  "handle_bad_stack",
  "panic_bad_stack",
  "arm64_serror_panic",
]);
/** On another processor: what the one that panicked stopped it with. */
const STOPS: ReadonlySet<string> = new Set([
  "exc_nmi",
  "stop_this_cpu",
  "crash_nmi_callback",
  "local_cpu_stop",
  "ipi_cpu_crash_stop",
]);

/** Chooses the stack by what the log says; null when the task that crashed is gone and only the log tells of it. */
export function findCrashStack(kernel: LinuxKernel, log: ConsoleFindings): CrashStack | null {
  const kind = log.main?.report.class ?? null;
  const panicked = kernel.panicProcessor() ?? (log.panic === null ? null : processorInPanic(kernel));
  if (kind === "hung-task") {
    const blocked = blockedStack(kernel, log);
    if (blocked !== null) return blocked;
  }
  if (kind !== null && STUCK.has(kind) && log.panic !== null) {
    const stuck = log.main?.report.facts["cpu"] ?? log.main?.report.cpu ?? panicked;
    const processor = kernel.processors()[Number(stuck)];
    if (stuck !== null && processor !== undefined) return stackOfProcessor(kernel, kind, processor);
  }
  const processor = panicked === null ? undefined : kernel.processors()[panicked];
  if (processor !== undefined) return panicStack(kernel, kind ?? "panic", processor);
  return kind === null ? quietStack(kernel) : null;
}

/** The processor whose stack goes through panic(): a kernel that names no data does not tell otherwise. */
function processorInPanic(kernel: LinuxKernel): number | null {
  const index = kernel.processors().findIndex((each) => lastPanic(walkProcessor(kernel, each).frames) >= 0);
  return index < 0 ? null : index;
}

/** Each function of a walk. */
export function nameFrames(kernel: LinuxKernel, { frames }: Walk): LinuxFrame[] {
  return frames.map((frame) => ({ frame, place: kernel.locate(frame.address, frame.exact) }));
}

function blockedStack(kernel: LinuxKernel, { main }: ConsoleFindings): CrashStack | null {
  const pid = Number(main?.report.facts["pid"]);
  const task = kernel.tasks().find((each) => each.pid === pid);
  const walk = task === undefined ? null : kernel.walkTask(task);
  if (task === undefined || walk === null) return null;
  const frames = nameFrames(kernel, walk);
  return {
    kind: "hung-task",
    origin: "blocked_task",
    frames,
    end: walk.end,
    task,
    cpu: task.cpu,
    registers: null,
  };
}

function stackOfProcessor(kernel: LinuxKernel, kind: string, processor: LinuxProcessor): CrashStack {
  const { frames, end } = walkProcessor(kernel, processor);
  const start = interruptedFrame(frames);
  return stackFrom(kind, start === null ? "processor" : "exception", frames, end, start ?? 0, processor);
}

function panicStack(kernel: LinuxKernel, kind: string, processor: LinuxProcessor): CrashStack | null {
  const { frames, end } = walkProcessor(kernel, processor);
  const start = interruptedFrame(frames);
  if (start !== null) return stackFrom(kind, "exception", frames, end, start, processor);
  const panic = lastPanic(frames);
  return panic < 0 || panic + 1 >= frames.length
    ? null
    : stackFrom(kind, "panic", frames, end, panic + 1, processor);
}

/** Nobody said a thing: what the first processor that is not idle does right now; `none` when all are idle. */
function quietStack(kernel: LinuxKernel): CrashStack | null {
  const processors = kernel.processors();
  const busy = processors.find((processor) => (processor.task()?.pid ?? 0) !== 0);
  const shown = busy ?? processors[0];
  if (shown === undefined) return null;
  const { frames, end } = walkProcessor(kernel, shown);
  return stackFrom(busy === undefined ? "none" : "hang", "processor", frames, end, 0, shown);
}

/** A processor's whole stack; empty when it ran a program. */
export function walkProcessor(
  kernel: LinuxKernel,
  { saved }: LinuxProcessor,
): { frames: LinuxFrame[]; end: WalkEnd } {
  if (saved.isUser) return { frames: [], end: "bottom" };
  const walk = kernel.walk(saved.context);
  return { frames: nameFrames(kernel, walk), end: walk.end };
}

function stackFrom(
  kind: string,
  origin: StackOrigin,
  frames: readonly LinuxFrame[],
  end: WalkEnd,
  start: number,
  processor: LinuxProcessor,
): CrashStack {
  const first = frames[start]?.frame ?? null;
  const saved = first !== null && (first.how === "machine_frame" || first.how === "context");
  return {
    kind,
    origin,
    frames: frames.slice(start),
    end,
    task: processor.task(),
    cpu: processor.index,
    registers: saved ? first.registers : null,
  };
}

/** The frame that the deciding exception, NMI or interrupt cut off; null when panic() was called outright. */
function interruptedFrame(frames: readonly LinuxFrame[]): number | null {
  const panic = lastPanic(frames);
  const seen = new Set<string>();
  for (const [index, { frame, place }] of frames.entries()) {
    if (frame.how === "machine_frame") {
      const before = frames[index - 1]?.place.symbol?.name ?? "";
      if (panic < 0) {
        const stopped = before.startsWith("end_repeat_nmi") || has(seen, REASONS) || has(seen, STOPS);
        return stopped ? index : null;
      }
      if (index - 1 > panic) return has(seen, REASONS) ? index : null;
    }
    seen.add(baseName(place.symbol?.name ?? ""));
  }
  return null;
}

function lastPanic(frames: readonly LinuxFrame[]): number {
  return frames.findLastIndex(({ place }) => PANIC.has(baseName(place.symbol?.name ?? "")));
}

function has(seen: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  return [...wanted].some((name) => seen.has(name));
}
