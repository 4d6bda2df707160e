/** The tasks of a machine out of its core. */

import type { Clock } from "../../base/clock.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { DumpTasks } from "../../contract/dump_tasks.ts";
import type { LinuxKernel, LinuxProcessor } from "../../dump/linux/kernel/kernel.ts";
import type { KernelTask } from "../../dump/linux/kernel/tasks.ts";
import { type LinuxFrame, nameFrames, walkProcessor } from "../../dump/linux/triage/crash_stack.ts";
import { hex64 } from "../../dump/numbers.ts";
import { badDump } from "../../dump/reasons.ts";
import type { DumpFiles } from "../inspect_file.ts";
import { inspectCore, openLinuxKernel } from "./open_kernel.ts";

/** Of which core, which tasks, and whether with their stacks. */
export interface TaskOptions {
  readonly path: string;
  readonly stacks: boolean;
  readonly state?: KernelTask["state"] | undefined;
  readonly pid?: number | undefined;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/**
 * Lists tasks in the order of the kernel. Fails as `inspectCore` and `openLinuxKernel` do, and with `hv.bad_dump`
 * when the core does not hold what leads to the tasks.
 */
export async function listDumpTasks(
  files: DumpFiles,
  clock: Clock,
  options: TaskOptions,
): Promise<DumpTasks> {
  const { path, stacks, state, pid, limit, signal } = options;
  const inspection = await inspectCore(files, clock, path, signal);
  using file = files.open(path);
  const kernel = await openLinuxKernel(file);
  const all = kernel.tasks();
  if (all.length === 0) {
    const why = kernel.warnings.find(({ reason }) => reason !== "truncated") ?? kernel.warnings[0];
    throw badDump("kernel_list", `Cannot list the tasks of "${path}": ${why?.message ?? "there are none"}`, {
      path,
    });
  }
  const wanted = findTasks(kernel).filter(({ task }) =>
    (state === undefined || task.state === state) &&
    (pid === undefined || task.pid === pid || task.tgid === pid)
  );
  const tasks = wanted.slice(0, limit).map((found) => describeTask(kernel, found, stacks));
  return {
    path,
    dump_kind: kernel.core.kind,
    os_version: kernel.info.release,
    tasks,
    task_count: all.length,
    warnings: [...inspection.warnings, ...kernel.warnings],
    ...(tasks.length < wanted.length ? { truncated: true } : {}),
  };
}

/** A task, and the processor that runs it. */
export interface FoundTask {
  readonly task: KernelTask;
  readonly processor: LinuxProcessor | undefined;
}

/** All tasks. The idle task of a processor is in no list; while it runs, it is what that processor does. */
export function findTasks(kernel: LinuxKernel): FoundTask[] {
  const running = new Map(kernel.processors().map((processor) => [processor.task()?.address, processor]));
  const idle = kernel.processors().flatMap((processor) => processor.task() ?? []).filter((task) =>
    task.pid === 0
  );
  return [...idle, ...kernel.tasks()].map((task) => ({ task, processor: running.get(task.address) }));
}

/** A task as it is listed. */
export function describeTask(
  kernel: LinuxKernel,
  { task, processor }: FoundTask,
  stacks: boolean,
): DumpTasks["tasks"][number] {
  return {
    pid: task.pid,
    process: task.tgid,
    comm: task.comm,
    state: task.state,
    cpu: task.cpu,
    running: processor !== undefined,
    kernel: task.kernel,
    ...(stacks ? { stack: stackOf(kernel, task, processor) } : {}),
  };
}

/** A running task's stack begins in its processor's registers, a waiting one's where it left the processor. */
function stackOf(
  kernel: LinuxKernel,
  task: KernelTask,
  processor: LinuxProcessor | undefined,
): string[] | null {
  if (processor !== undefined) return walkProcessor(kernel, processor).frames.map(frameText);
  if (task.state === "Z" || task.state === "X") return null;
  const walk = kernel.walkTask(task);
  return walk === null ? null : nameFrames(kernel, walk).map(frameText);
}

/** `module!function+0x10`. */
function frameText({ frame, place: { module, symbol, base } }: LinuxFrame): string {
  if (module === null) return hex64(frame.address);
  if (symbol !== null) return visibleText(`${module}!${symbol.name}+0x${symbol.offset.toString(16)}`);
  return `${module}+0x${(frame.address - (base ?? 0n)).toString(16)}`;
}

/** One line for each task, its stack below it. */
export function renderDumpTasks({ tasks, task_count, warnings }: DumpTasks): string {
  return [
    `${"PID".padStart(7)}  ${"PROCESS".padStart(7)}  CPU  S  NAME`,
    ...tasks.flatMap(({ pid, process, cpu, state, comm, running, kernel, stack }) => [
      `${String(pid).padStart(7)}  ${String(process).padStart(7)}  ${String(cpu).padStart(3)}  ${state}  ${
        kernel ? `[${comm}]` : comm
      }${running ? "  (running)" : ""}`,
      ...(stack === null ? ["            no stack"] : (stack ?? []).map((line) => `            ${line}`)),
    ]),
    `${tasks.length} of ${task_count} tasks`,
    ...warnings.map(({ reason, message }) => `warning  ${reason}: ${visibleText(message)}`),
  ].join("\n");
}
