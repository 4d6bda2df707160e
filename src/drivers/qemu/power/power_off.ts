/** Ending a VM's QEMU: asked first, then told, and only ever a process that has been proved to be the VM's. */

import { HvError } from "../../../base/errors.ts";
import { noticeEnd } from "../launch/children.ts";
import type { QemuContext } from "../context.ts";
import { endHelpers } from "../launch/helpers.ts";
import { isStillThere, ProcessView, type QemuProcess } from "../identity.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { settlesWithin } from "../patience.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

/** `quit` and signals take 5 to 11 ms (measured on QEMU 7.2); a disk that is being flushed takes longer. */
const QUIT_LIMIT_MS = 2_000;
const TERM_LIMIT_MS = 2_000;
const KILL_LIMIT_MS = 5_000;
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 100;
const MONITOR_LIMIT_MS = 1_000;

/**
 * Cuts a VM's power and returns once no process of it is left. The caller holds the VM's lock. Throws `hv.io` when
 * the process does not end, which means that the kernel keeps it.
 */
export async function endProcess(
  context: QemuContext,
  record: Pick<VmRecord, "id" | "runtime">,
  signal: AbortSignal,
): Promise<void> {
  await quit(context, record, signal);
  const processes = (await new ProcessView(context).all()).filter(({ id }) => id === record.id);
  for (const process of processes) await endOne(context, process, signal);
  await noticeEnd(context.host, record.id);
  await endHelpers(context, record.runtime, signal);
}

/** Asks QEMU to end; whether it did is seen from its process afterwards. */
async function quit(
  context: QemuContext,
  { id, runtime }: Pick<VmRecord, "id" | "runtime">,
  signal: AbortSignal,
): Promise<void> {
  // A link leads to a VM that somebody else made.
  const monitor = new RuntimeFolder(runtime).monitor("calls");
  if ((await context.host.files.stat(monitor))?.kind === "link") return;
  try {
    await askMonitor(context.host, id, new RuntimeFolder(runtime), async (session) => {
      await session.command("quit", undefined, { signal, timeoutMs: MONITOR_LIMIT_MS });
      await settlesWithin(context.host.clock, session.ended, MONITOR_LIMIT_MS, signal);
      return {};
    }, { signal, greetingMs: MONITOR_LIMIT_MS });
  } catch {
    // A monitor that breaks, hangs or is a stranger's: the process itself is next.
    signal.throwIfAborted();
  }
}

async function endOne(context: QemuContext, process: QemuProcess, signal: AbortSignal): Promise<void> {
  const { host } = context;
  if (await isGone(context, process, QUIT_LIMIT_MS, signal)) return;
  await host.processes.kill(process.pid, "TERM");
  if (await isGone(context, process, TERM_LIMIT_MS, signal)) return;
  await host.processes.kill(process.pid, "KILL");
  if (await isGone(context, process, KILL_LIMIT_MS, signal)) return;
  throw new HvError("hv.io", `Process ${process.pid} of ${process.id} does not end, not even by SIGKILL`, {
    hint: "Look what it waits for: a disk or a network file system that does not answer",
    context: { vm: process.id, pid: process.pid },
  });
}

/** Waits for the end of exactly this process; its last look is made right before the answer. */
async function isGone(
  context: QemuContext,
  process: QemuProcess,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = context.host;
  const end = clock.monotonic() + limitMs;
  for (let pause = FIRST_LOOK_MS;; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    if (!await isStillThere(context, process)) return true;
    if (clock.monotonic() >= end) return false;
    await clock.sleep(pause, signal);
  }
}
