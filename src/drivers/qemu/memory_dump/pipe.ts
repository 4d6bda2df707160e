/** One dump of QEMU's into a pipe, from its command to the guest that goes on. */

import type { Clock } from "../../../base/clock.ts";
import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { PipeReader } from "../../../host/pipes.ts";
import type { CallScope } from "../../call_scope.ts";
import type { MemoryDumpFormat } from "../../memory_dump_abilities.ts";
import { numberIn, textIn } from "../monitor/answers.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { settlesWithin } from "../patience.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmRecord } from "../records.ts";
import type { SparseWriter } from "./sparse_writer.ts";

const MAKE_PIPE = "mkfifo";
const PIPE = "memory.pipe";
/** Progress is told no more often than this many bytes apart. */
const PROGRESS_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 5;
/** A dump whose pipe has lost its reader ends at its next write. */
const ENDING_LIMIT_MS = 30_000;
const REASON_LIMIT_MS = 2_000;

/** QEMU's words for the formats. */
const FORMAT_WORDS = { elf: "elf", win_dmp: "win-dmp" } as const satisfies Record<MemoryDumpFormat, string>;

/**
 * Has QEMU write the memory and hands it on. Returns and throws only once QEMU is done with it, so that a guest that
 * ran runs again. The caller holds the VM's lock.
 */
export async function dumpIntoPipe(
  context: QemuContext,
  record: VmRecord,
  format: MemoryDumpFormat,
  target: SparseWriter,
  { signal, progress }: CallScope,
): Promise<void> {
  const path = joinPath(record.runtime, PIPE);
  const monitor = new VmMonitor(context, record);
  // QEMU works on at a killed call's dump until its next write.
  await awaitEnd(monitor, signal);
  await makePipe(context, path, signal);
  const pipe = await context.host.files.openPipe(path);
  try {
    const { total, first } = await monitor.ask((session) =>
      begin(session, context.host.clock, { path, format, pipe, record })
    );
    progress({ message: "Writing memory", fraction: 0 });
    let told = 0;
    for (let bytes = first; bytes !== null; bytes = await readOrLeave(pipe, signal)) {
      await target.write(bytes);
      if (target.total - told < PROGRESS_BYTES) continue;
      told = target.total;
      progress({
        message: "Writing memory",
        ...(total === 0 ? {} : { fraction: Math.min(1, told / total) }),
      });
    }
    await target.flush();
    await finish(monitor);
  } catch (error) {
    pipe.close();
    await awaitEnd(monitor, AbortSignal.timeout(ENDING_LIMIT_MS)).catch(() => {});
    throw error;
  } finally {
    pipe.close();
    await context.host.files.remove(path);
  }
}

async function makePipe({ host }: QemuContext, path: string, signal: AbortSignal): Promise<void> {
  // One that a killed call left has no reader, so that nobody writes into it any more.
  await host.files.remove(path);
  const made = await host.processes.run(MAKE_PIPE, ["-m", "600", "--", path], { signal });
  if (made.code === 0) return;
  throw new HvError(
    "hv.io",
    `Cannot make the pipe "${path}": ${new TextDecoder().decode(made.stderr).trim()}`,
    {
      hint: "Look whether the disk with the runtime folder is full",
      context: { path },
    },
  );
}

/**
 * Starts the dump and waits for its first bytes or its refusal, within one turn at the monitor: QEMU tells why it
 * failed only in an event.
 */
async function begin(
  session: QmpSession,
  clock: Clock,
  { path, format, pipe, record }: {
    path: string;
    format: MemoryDumpFormat;
    pipe: PipeReader;
    record: VmRecord;
  },
): Promise<{ total: number; first: Uint8Array | null }> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  session.onEvent(({ name, data }) => {
    const words = name === "DUMP_COMPLETED" ? textIn(data, "error") : undefined;
    if (words !== undefined) failed.reject(refused(record, format, words));
  });
  try {
    await session.command("dump-guest-memory", {
      paging: false,
      protocol: `file:${path}`,
      detach: true,
      format: FORMAT_WORDS[format],
    });
  } catch (error) {
    const words = error instanceof HvError ? error.context.qemu : undefined;
    throw typeof words === "string" ? refused(record, format, words) : error;
  }
  pipe.hasWriter();
  const read = pipe.read();
  read.catch(() => {});
  const first = await Promise.race([read, failed.promise]);
  // A pipe that ends at once has a reason that is on its way, unless QEMU itself has ended.
  if (first === null && !await settlesWithin(clock, failed.promise, REASON_LIMIT_MS)) {
    throw refused(record, format, "it ended without a word");
  }
  if (first === null) await failed.promise;
  return { total: numberIn(await session.command("query-dump"), "total"), first };
}

/** The next bytes, or the signal's reason; a read that is left behind ends with the pipe. */
async function readOrLeave(pipe: PipeReader, signal: AbortSignal): Promise<Uint8Array | null> {
  signal.throwIfAborted();
  const left = Promise.withResolvers<never>();
  left.promise.catch(() => {});
  const leave = (): void => left.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  const read = pipe.read();
  read.catch(() => {});
  try {
    return await Promise.race([read, left.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function finish(monitor: VmMonitor): Promise<void> {
  const status = await awaitEnd(monitor, AbortSignal.timeout(ENDING_LIMIT_MS));
  if (status === "completed") return;
  const { id, name } = monitor.vm;
  throw new HvError(
    "hv.job_failed",
    `QEMU broke off the dump of "${name}": wanted the status "completed", found "${status}"`,
    {
      hint: "QEMU's log in the VM's folder may say more",
      context: { vm: id, wanted: "completed", found: status },
    },
  );
}

/** Waits until no dump goes on and the guest runs again, if it did; answers how the last dump ended. */
async function awaitEnd(monitor: VmMonitor, signal: AbortSignal): Promise<string> {
  for (;;) {
    const { dump, run } = await monitor.ask(async (session) => ({
      dump: textIn(await session.command("query-dump"), "status") ?? "unknown",
      run: textIn(await session.command("query-status"), "status"),
    }));
    if (dump !== "active" && run !== "save-vm") return dump;
    await monitor.context.host.clock.sleep(LOOK_MS, signal);
  }
}

function refused({ id, name }: VmRecord, format: MemoryDumpFormat, words: string): HvError {
  if (format === "win_dmp") {
    return new HvError(
      "hv.unsupported",
      `The guest of "${name}" has not told its machine where its dump header lies: ${words}`,
      {
        hint:
          "Windows does so with the driver fwcfg64 of virtio-win; the format elf needs nothing of the guest",
        context: { vm: id, reason: "no_dump_header", qemu: words },
      },
    );
  }
  return new HvError("hv.job_failed", `QEMU did not dump the memory of "${name}": ${words}`, {
    hint: "QEMU's own words are in the message",
    context: { vm: id, qemu: words },
  });
}
