/** Fetches the dumps of a VM: those that its guest keeps, and its memory from outside. */

import { HvError, toHvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { CoreMemory } from "../../contract/crash_policy.ts";
import type { CollectedDump, DumpCollection } from "../../contract/dump_collect.ts";
import type { Progress } from "../../contract/operation.ts";
import type { Vm } from "../../contract/vm.ts";
import { inspectDumpFile } from "../../debugger/inspect_file.ts";
import { leaveCoreWhole, reduceCore } from "../../debugger/linux/reduce_core.ts";
import type { CallScope } from "../../drivers/call_scope.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { MemoryDumpFormat } from "../../drivers/memory_dump_abilities.ts";
import { listGuestDumps } from "../../guest/dump_files.ts";
import type { Host } from "../../host/host.ts";
import { abilityOf } from "../abilities.ts";
import { copyFromGuest } from "../copies/copy_files.ts";
import { openChannel } from "../guest/open_channel.ts";

/** What to fetch, and where to. */
export interface CollectOptions {
  /** A folder; it is made when it is not there. */
  readonly output: string;
  readonly guest: boolean;
  readonly memory: boolean;
  /** Of a Linux guest's memory only what triage, log and tasks read. */
  readonly sparse: boolean;
  readonly overwrite: boolean;
  /** The ways into guests that the policy allows; all when left out. */
  readonly channels?: readonly string[] | null;
}

interface Collector extends CollectOptions {
  readonly host: Host;
  readonly driver: Driver;
  readonly vm: Vm;
  readonly scope: CallScope;
}

type Skipped = DumpCollection["skipped"][number];

/** Tells what did not come, and why. */
type Skip = (source: Skipped["source"], thrown: unknown, guestPath?: string) => void;

/**
 * Fetches both. What one way or one file cannot give is told beside what the others gave; when nothing at all came, the
 * first failure is the call's. No failure are a guest that runs and keeps no dump, and beside a guest that was
 * looked at a driver that cannot write memory.
 */
export async function collectDumps(
  host: Host,
  driver: Driver,
  vm: Vm,
  options: CollectOptions,
  scope: CallScope,
): Promise<DumpCollection> {
  const collector = { ...options, host, driver, vm, scope };
  await host.files.makeFolder(options.output);
  const files: CollectedDump[] = [];
  const skipped: Skipped[] = [];
  const failures: HvError[] = [];
  const skip: Skip = (source, thrown, guestPath) => {
    scope.signal.throwIfAborted();
    const failure = toHvError(thrown);
    if (failure.code === "hv.internal") throw failure;
    const place = guestPath === undefined ? {} : { guest_path: guestPath };
    skipped.push({ source, ...place, code: failure.code, message: failure.message });
    if (source === "guest" || !options.guest || driver.features.has("dumps")) failures.push(failure);
  };
  if (options.guest) await collectFromGuest(collector, files, skip).catch((thrown) => skip("guest", thrown));
  if (options.memory) {
    await collectMemory(collector).then((file) => files.push(file), (thrown) => skip("memory", thrown));
  }
  const [first] = failures;
  if (files.length === 0 && first !== undefined) {
    throw first.withContext({
      vm: vm.id,
      skipped: skipped.map(({ source, message }) => `${source}: ${message}`),
    });
  }
  return { vm: vm.id, name: vm.name, files, skipped };
}

async function collectFromGuest(
  { host, driver, vm, scope, output, overwrite, channels }: Collector,
  files: CollectedDump[],
  skip: Skip,
): Promise<void> {
  const channel = openChannel(driver, vm, channels);
  for (const dump of await listGuestDumps(channel, scope.signal)) {
    const path = joinPath(output, fileName(vm, dump.name));
    scope.progress({ message: `Copying ${dump.path}` });
    try {
      const copied = await copyFromGuest(
        host,
        channel,
        { source: dump.path, destination: path, overwrite },
        scope.signal,
      );
      files.push({
        ...await describe(host, path),
        source: "guest",
        guest_path: dump.path,
        size_bytes: copied.size_bytes,
        sha256: copied.sha256,
      });
    } catch (thrown) {
      skip("guest", thrown, dump.path);
    }
  }
}

const EXTENSIONS: Readonly<Record<MemoryDumpFormat, string>> = { win_dmp: "dmp", elf: "elf" };

/** In Windows' own format when the guest has told the machine how; else as a core file, which every guest gives. */
async function collectMemory(
  { host, driver, vm, scope, output, overwrite, sparse }: Collector,
): Promise<CollectedDump> {
  if (!driver.features.has("dumps")) {
    throw new HvError("hv.unsupported", `The driver "${driver.name}" cannot write a guest's memory`, {
      hint: "Leave it out: --no-memory",
      context: { driver: driver.name, feature: "dumps" },
    });
  }
  const { dump } = abilityOf(driver, "dumps");
  const write = async (format: MemoryDumpFormat): Promise<CollectedDump> => {
    const path = joinPath(output, fileName(vm, `memory.${EXTENSIONS[format]}`));
    const progress = (told: Progress): void => scope.progress(told);
    const { size_bytes } = await dump(vm.id, path, { format, sparse: true, overwrite }, {
      ...scope,
      progress,
    });
    if (!sparse) return { ...await describe(host, path), source: "memory", size_bytes };
    const memory = await makeSparse(host, path, format, scope.signal);
    const facts = await host.files.stat(path);
    return {
      ...await describe(host, path),
      source: "memory",
      size_bytes: facts?.size_bytes ?? size_bytes,
      memory,
    };
  };
  try {
    return await write("win_dmp");
  } catch (thrown) {
    if (!(thrown instanceof HvError) || thrown.context.reason !== "no_dump_header") throw thrown;
  }
  return await write("elf");
}

async function makeSparse(
  host: Host,
  path: string,
  format: MemoryDumpFormat,
  signal: AbortSignal,
): Promise<CoreMemory> {
  return format === "elf"
    ? await reduceCore(host, path, signal)
    : await leaveCoreWhole(host, path, "Only a core of Linux can be reduced", signal);
}

/** Names of VMs may hold what no file name should begin with or contain. */
function fileName({ name }: Vm, file: string): string {
  return `${name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_")}-${file}`;
}

type Description = Omit<CollectedDump, "source" | "size_bytes" | "sha256" | "guest_path">;

async function describe({ files, clock }: Host, path: string): Promise<Description> {
  try {
    const { inspection } = await inspectDumpFile(files, clock, path);
    return {
      path,
      dump_kind: inspection.dump_kind,
      os_version: inspection.os_version,
      bugcheck_code: inspection.bugcheck_code ?? null,
      bugcheck_name: inspection.bugcheck_name ?? null,
      time: inspection.time ?? null,
      machine: inspection.machine ?? null,
      processors: inspection.processors ?? null,
      failure: null,
    };
  } catch (thrown) {
    return { path, ...UNKNOWN, failure: toHvError(thrown).message };
  }
}

const UNKNOWN = {
  dump_kind: null,
  os_version: null,
  bugcheck_code: null,
  bugcheck_name: null,
  time: null,
  machine: null,
  processors: null,
} as const;
