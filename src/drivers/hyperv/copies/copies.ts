/** VMs made of VMs: clones, exports and imports. */

import * as z from "zod/mini";
import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { refuseWindowsName } from "../../../base/windows_names.ts";
import { VmName } from "../../../contract/names.ts";
import type { DiskMoment } from "../../../contract/vm.ts";
import type { Host } from "../../../host/host.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { CopyAbilities, ExportFacts } from "../../vm_extras.ts";
import { ExportedMachine } from "../answers.ts";
import type { HyperV } from "../client.ts";
import { applyWaiting } from "../machines/configure.ts";
import { checkExport, readExportRecord, writeExportRecord } from "./export_record.ts";
import { bringIntoBeing } from "../machines/making.ts";
import { refuseTakenName, takeNames } from "../machines/names.ts";
import { fullNewPath, fullPath } from "../paths.ts";

/** Removing what a failed export has written has a budget of its own. */
const TIDY_LIMIT_MS = 30_000;
const TIDY_AGAIN_MS = 200;
const BYTES_PER_MIB = 1024 * 1024;

/** Copies of this host's VMs. */
export function openCopies(hyperv: HyperV, state: StateFolder): CopyAbilities {
  return {
    async clone(id, name, scope) {
      const disks = await prepare(hyperv, state, id, scope);
      using _names = await takeNames(hyperv, state, scope.signal);
      await refuseTakenName(hyperv, name, scope.signal);
      const clone = await bringIntoBeing(
        hyperv,
        {},
        (birth) => hyperv.copyMachine(id, { ...birth, name }, scope),
      );
      return { id: clone, disks };
    },

    async export(id, wanted, scope) {
      const disks = await prepare(hyperv, state, id, scope);
      const files = await writeFolder(hyperv, wanted, scope, async (folder) => {
        const { files, machine } = await hyperv.exportMachine(id, folder, scope);
        return await writeExportRecord(hyperv.host, folder, { machine, files, keeps_memory: false }, scope);
      });
      return { files, disks };
    },

    look: async (folder, signal) => lookAtExport(hyperv, await fullPath(hyperv.host, folder), signal),
    import: async (folder, name, scope) =>
      importVm(hyperv, state, await fullPath(hyperv.host, folder), name, scope),
  };
}

/** Of a folder that hvlab did not write itself Hyper-V says what it holds. */
async function lookAtExport(hyperv: HyperV, folder: string, signal: AbortSignal): Promise<ExportFacts> {
  const record = await readExportRecord(hyperv.host, folder);
  if (record !== undefined) return { name: record.name, memory_mb: record.memory_mb, cpus: record.cpus };
  const { name, memory_startup, cpus } = await hyperv.ask(
    ExportedMachine,
    "export_facts",
    { folder },
    { signal },
  );
  return { name, memory_mb: Math.round(Number(memory_startup) / BYTES_PER_MIB), cpus };
}

async function importVm(
  hyperv: HyperV,
  state: StateFolder,
  folder: string,
  name: string | undefined,
  scope: CallScope,
): Promise<string> {
  const record = await readExportRecord(hyperv.host, folder);
  if (record !== undefined) await checkExport(hyperv.host, folder, record, scope);
  const wanted = name ?? (await lookAtExport(hyperv, folder, scope.signal)).name;
  if (!z.safeParse(VmName, wanted).success) {
    throw new HvError(
      "hv.usage",
      `The exported VM has a name that hvlab gives to none: ${JSON.stringify(wanted)}`,
      {
        hint: "Give another one with --name",
        context: { path: folder, name: wanted },
      },
    );
  }
  using _names = await takeNames(hyperv, state, scope.signal);
  await refuseTakenName(hyperv, wanted, scope.signal);
  const args = {
    name: wanted,
    folder,
    keep_memory: record?.keeps_memory ?? false,
    compare: record === undefined,
  };
  return await bringIntoBeing(hyperv, {}, (birth) => hyperv.importMachine({ ...birth, ...args }, scope));
}

/** Gives a VM that is off what waits for its start, and says which moment a copy of its disks shows. */
async function prepare(
  hyperv: HyperV,
  state: StateFolder,
  id: string,
  scope: CallScope,
): Promise<DiskMoment> {
  await applyWaiting(hyperv, state, id, scope);
  const machine = await hyperv.getMachine(id, scope.signal);
  const { name } = machine;
  const reason = refuseWindowsName(name);
  if (reason !== undefined) {
    // Hyper-V names an export's folder after the VM.
    throw new HvError(
      "hv.unsupported",
      `Hyper-V cannot copy "${name}", for no folder has that name: ${reason}`,
      {
        hint: `Rename it first: hvlab vm rename ${id} NAME`,
        context: { vm: id, name },
      },
    );
  }
  return machine.state === "Off" ? "at_rest" : "power_cut";
}

/** Writes into a folder that does not exist or is empty, named by its whole path; after a failure it is as it was. */
export async function writeFolder(
  { host }: HyperV,
  wanted: string,
  scope: CallScope,
  write: (folder: string) => Promise<string[]>,
): Promise<string[]> {
  const { files, clock } = host;
  const folder = await fullNewPath(host, wanted);
  const before = await files.stat(folder, { follow: true });
  if (before !== undefined && (before.kind !== "folder" || (await files.list(folder)).length > 0)) {
    throw new HvError("hv.conflict", `"${folder}" is there already`, {
      hint: "Name a folder that does not exist yet",
      context: {
        path: folder,
        wanted: "absent",
        found: before.kind === "folder" ? "not empty" : before.kind,
      },
    });
  }
  try {
    return await write(folder);
  } catch (error) {
    using limit = startDeadline(clock, TIDY_LIMIT_MS);
    await tidy(host, folder, before !== undefined, limit.signal).catch(() =>
      scope.warn?.(`What was written into "${folder}" could not be removed`)
    );
    throw error;
  }
}

/** Hyper-V may still hold a file for a moment after it was stopped. */
async function tidy(
  { files, clock }: Host,
  folder: string,
  wasThere: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      if (!wasThere) return await files.remove(folder);
      for (const { name } of await files.list(folder)) await files.remove(joinPath(folder, name));
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      await clock.sleep(TIDY_AGAIN_MS, signal);
    }
  }
}
