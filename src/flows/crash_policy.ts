/** From the crash of a guest to its answer: what a crash policy collects, and what it says of it. */

import { HvError, toHvError } from "../base/errors.ts";
import { copyThroughJson, type JsonObject } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { CrashPolicy } from "../contract/crash_policy.ts";
import type { DumpTriage } from "../contract/dump_triage.ts";
import { readDumpLog } from "../debugger/linux/read_log.ts";
import { renderTriage } from "../debugger/triage/render.ts";
import { triageDumpFile } from "../debugger/triage/triage_file.ts";
import type { CallScope } from "../drivers/call_scope.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Host } from "../host/host.ts";
import { abilityOf } from "./abilities.ts";

/** What a policy needs to know. */
export interface CrashOptions {
  readonly host: Host;
  readonly driver: Driver;
  /** The VM whose guest has crashed. */
  readonly id: string;
  readonly policy: Exclude<CrashPolicy, "stop">;
  /** Where core and console are kept; it is made when it is not there. */
  readonly folder: string;
}

const CORE = "memory.elf";
const CONSOLE = "console.log";
const KERNEL_LOG = "kernel.log";
/** A console is read in pieces of this size. */
const PIECE_BYTES = 1024 * 1024;
/** The failure with what was kept, and the triage as a page for a person. */
export interface CrashAnswer {
  readonly error: HvError;
  /** Null without a triage. */
  readonly page: string | null;
}

/**
 * Keeps the memory and the console of a crashed guest, and triages. Gives the failure with what was kept in its context
 * as `crash`; what could not be had stands there as `failure`, and the first failure is never lost.
 */
export async function answerCrash(
  error: HvError,
  options: CrashOptions,
  scope: CallScope,
): Promise<CrashAnswer> {
  const { host, folder, policy } = options;
  const core = joinPath(folder, CORE);
  const crash: JsonObject = { folder };
  let triage: DumpTriage | null = null;
  try {
    await host.files.makeFolder(folder);
    scope.progress({ message: "collecting the crashed guest's memory" });
    await abilityOf(options.driver, "dumps").dump(
      options.id,
      core,
      { format: "elf", sparse: true, overwrite: false },
      scope,
    );
    crash["core"] = core;
    const console = await keepConsole(options);
    if (console !== null) crash["console"] = console;
    const log = await keepKernelLog(options, core);
    if (log !== null) crash["log"] = log;
    if (policy === "triage") {
      triage = await triageDumpFile(host.files, host.clock, {
        path: core,
        full: false,
        signal: scope.signal,
      });
      crash["triage"] = copyThroughJson(triage) ?? {};
    }
  } catch (thrown) {
    scope.signal.throwIfAborted();
    crash["failure"] = toHvError(thrown).message;
  }
  return { error: tell(error, crash, triage), page: triage === null ? null : renderTriage(triage) };
}

function tell(error: HvError, crash: JsonObject, triage: DumpTriage | null): HvError {
  const { core, failure, folder } = crash;
  const kept = typeof core === "string"
    ? `Its core is kept: hvlab dump triage ${core}`
    : `Its core could not be kept in "${folder}": ${failure}`;
  return new HvError(
    error.code,
    triage === null ? error.message : `The guest has crashed: ${triage.summary}`,
    {
      hint: kept,
      context: { ...error.context, crash },
      retryable: error.retryable,
      cause: error.cause ?? error,
    },
  );
}

/**
 * The kernel's own log as a file: a machine that stands still at its panic has not printed all of it yet. Null where the
 * core tells none, as that of another system.
 */
async function keepKernelLog({ host, folder }: CrashOptions, core: string): Promise<string | null> {
  try {
    const { lines } = await readDumpLog(host.files, host.clock, { path: core });
    const path = joinPath(folder, KERNEL_LOG);
    using writer = await host.files.create(path);
    await writer.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
    return path;
  } catch (thrown) {
    if (thrown instanceof HvError && thrown.code === "hv.bad_dump") return null;
    throw thrown;
  }
}

/** The console's log as a file; null where the driver keeps none. */
async function keepConsole({ host, driver, id, folder }: CrashOptions): Promise<string | null> {
  if (driver.serial === undefined) return null;
  using log = await driver.serial.log(id);
  if (log === undefined) return null;
  const path = joinPath(folder, CONSOLE);
  using writer = await host.files.create(path);
  for (let at = log.kept_from; at < log.size;) {
    const bytes = log.read(at, PIECE_BYTES);
    if (bytes.length === 0) break;
    await writer.write(bytes);
    at += bytes.length;
  }
  return path;
}
