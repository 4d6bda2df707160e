/** Keeping a crashed guest: its memory, its console, the log in its memory, and what they tell. */

import { HvError, toHvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { CoreMemory, KeepingPolicy, KeptCrash } from "../../contract/crash_policy.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { readDumpLog } from "../../debugger/linux/read_log.ts";
import { leaveCoreWhole, reduceCore } from "../../debugger/linux/reduce_core.ts";
import { triageDumpFile } from "../../debugger/triage/triage_file.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Host } from "../../host/host.ts";
import { abilityOf } from "../abilities.ts";
import { CRASH_FILES } from "./crash_folder.ts";

/** What a policy needs to know. */
export interface CrashOptions {
  readonly host: Host;
  readonly driver: Driver;
  /** The VM whose guest has crashed. */
  readonly id: string;
  readonly policy: KeepingPolicy;
  /** Where everything is kept; it is made when it is not there. */
  readonly folder: string;
  /** Lets the guest go on for a moment once its memory is kept, so that its console is complete. */
  readonly finishes?: boolean;
  /** Goes on with what an earlier attempt has left in the folder; without it nothing is replaced. */
  readonly resumes?: boolean;
}

/** What was kept, and the triage where the policy wants one. */
export interface CrashKept {
  readonly kept: KeptCrash;
  readonly triage: DumpTriage | null;
}

/** A console is read in pieces of this size. */
const PIECE_BYTES = 1024 * 1024;
/** How long another call's work on the VM is waited for. */
const BUSY_LIMIT_MS = 30_000;
const LOOK_AGAIN_MS = 100;

/**
 * Keeps a crash. What could not be had stands in `failure`; nothing else is lost by it: without a core the console is
 * kept and triaged all the same.
 */
export async function keepCrash(options: CrashOptions, scope: CallScope): Promise<CrashKept> {
  const { host, folder, policy } = options;
  const kept: KeptCrash = { folder };
  const failures: string[] = [];
  let triage: DumpTriage | null = null;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      scope.signal.throwIfAborted();
      failures.push(toHvError(thrown).message);
    }
  };
  await attempt(async () => {
    await host.files.makeFolder(folder);
    kept.core = await keepCore(options, scope);
    await attempt(() => finishConsole(options, scope));
  });
  await attempt(async () => {
    const console = await keepConsole(options);
    if (console !== null) kept.console = console;
  });
  await attempt(async () => {
    const log = kept.core === undefined ? null : await keepKernelLog(options, kept.core);
    if (log !== null) kept.log = log;
  });
  const path = kept.core ?? kept.console;
  if (policy === "triage" && path !== undefined) {
    await attempt(async () => {
      const { signal } = scope;
      triage = await triageDumpFile(host.files, host.clock, { path, full: false, signal });
      kept.triage = joinPath(folder, CRASH_FILES.triage);
      await host.files.writeAtomically(kept.triage, `${JSON.stringify(triage, undefined, 2)}\n`);
      kept.summary = triage.summary;
      kept.bucket = triage.bucket;
    });
  }
  await attempt(async () => {
    if (kept.core !== undefined) kept.memory = await reduce(host, kept.core, kept.log !== undefined, scope);
  });
  if (failures.length > 0) kept.failure = failures.join("; ");
  return { kept, triage };
}

async function keepCore(
  { host, driver, id, folder, resumes }: CrashOptions,
  scope: CallScope,
): Promise<string> {
  const core = joinPath(folder, CRASH_FILES.core);
  if (resumes && await host.files.stat(core) !== undefined) return core;
  scope.progress({ message: "collecting the crashed guest's memory" });
  const dumps = abilityOf(driver, "dumps");
  await whenIdle(host, scope.signal, async () => {
    await dumps.dump(id, core, { format: "elf", sparse: true, overwrite: false }, scope);
  });
  return core;
}

/** Comes last: until then the whole core is what everything is read from. */
async function reduce(
  host: Host,
  core: string,
  isLinux: boolean,
  { signal, progress }: CallScope,
): Promise<CoreMemory> {
  if (!isLinux) {
    return await leaveCoreWhole(host, core, "It tells no kernel log, so nothing says what to keep", signal);
  }
  progress({ message: "reducing the core to what its readers need" });
  return await reduceCore(host, core, signal);
}

/** Fails in words of its own: the log in the core has what the console may then lack. */
async function finishConsole(
  { host, driver, id, finishes }: CrashOptions,
  { signal }: CallScope,
): Promise<void> {
  const { crashes } = driver;
  if (!finishes || crashes === undefined) return;
  try {
    await whenIdle(host, signal, () => crashes.finishConsole(id, signal));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`The console may lack its end: ${toHvError(error).message}`);
  }
}

/** Tries again while another call is at work on the VM. */
async function whenIdle({ clock }: Host, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const end = clock.monotonic() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof HvError && error.code === "hv.conflict" && error.retryable;
      if (!isBusy || clock.monotonic() >= end) throw error;
    }
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/**
 * The kernel's own log as a file: a machine that stands still at its panic has not printed all of it yet. Null where the
 * core tells none, as that of another system.
 */
async function keepKernelLog({ host, folder, resumes }: CrashOptions, core: string): Promise<string | null> {
  try {
    const { lines } = await readDumpLog(host.files, host.clock, { path: core });
    const path = joinPath(folder, CRASH_FILES.log);
    using writer = await host.files.create(path, { overwrite: resumes === true });
    await writer.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
    return path;
  } catch (thrown) {
    if (thrown instanceof HvError && thrown.code === "hv.bad_dump") return null;
    throw thrown;
  }
}

/** The console's log as a file; null where the driver keeps none, or has none any more. */
async function keepConsole({ host, driver, id, folder, resumes }: CrashOptions): Promise<string | null> {
  if (driver.serial === undefined) return null;
  using log = await driver.serial.log(id);
  if (log === undefined) return null;
  const path = joinPath(folder, CRASH_FILES.console);
  using writer = await host.files.create(path, { overwrite: resumes === true });
  for (let at = log.kept_from; at < log.size;) {
    const bytes = log.read(at, PIECE_BYTES);
    if (bytes.length === 0) break;
    await writer.write(bytes);
    at += bytes.length;
  }
  return path;
}
