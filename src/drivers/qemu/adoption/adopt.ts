/**
 * VMs that somebody else made. Their sockets stay where they are: the runtime folder holds links to them, so that all
 * that works through a monitor or an agent works on them too.
 */

import { HvError } from "../../../base/errors.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../call_scope.ts";
import type { AdoptionAbilities, AdoptionWish } from "../../vm_extras.ts";
import type { QemuContext } from "../context.ts";
import { bringIntoBeing, newRecord, refuseTakenName, takeNames } from "../creation.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { removeFiles } from "../removal.ts";
import { prepareRuntimeFolder, removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { takeVmLock, waitForVmLock } from "../vm_lock.ts";
import { type ForeignMachine, meetMachine } from "./meet.ts";
import { findForeignProcess } from "./process.ts";

/** Adopt and forget of the QEMU driver. */
export function openAdoption(context: QemuContext, records: VmRecords): AdoptionAbilities {
  return {
    adopt: (wish, scope) => adoptVm(context, records, wish, scope),
    forget: (id, scope) => forgetVm(context, records, id, scope),
  };
}

async function adoptVm(
  context: QemuContext,
  records: VmRecords,
  { locator, name, allow }: AdoptionWish,
  scope: CallScope,
): Promise<string> {
  const monitor = await findSocket(context, locator);
  const seen = await meetMachine(context, monitor, scope.signal);
  const known = await records.find(seen.id);
  allow?.({ id: seen.id, name: known?.name ?? seen.name ?? "" });
  const adopted = {
    monitor,
    ...(seen.agent === undefined ? {} : { agent: seen.agent }),
    ...await findForeignProcess(context, seen.id, monitor),
  };
  if (known === undefined) {
    await takeUp(context, records, seen, adopted, name ?? nameFor(seen, monitor), scope);
  } else await findAgain(context, records, known, adopted, name, scope);
  return seen.id;
}

async function takeUp(
  context: QemuContext,
  records: VmRecords,
  { id, memory_mb, cpus, machine }: ForeignMachine,
  adopted: NonNullable<VmRecord["adopted"]>,
  name: string,
  scope: CallScope,
): Promise<void> {
  const { version, host } = context;
  const fill = async (): Promise<VmRecord> => {
    if (await records.find(id) !== undefined) throw adoptedMeanwhile(id);
    return {
      ...newRecord(context, id, name),
      memory_mb,
      cpus,
      machine,
      ...(version === undefined ? {} : { made_by: version }),
      adopted,
    };
  };
  await bringIntoBeing(context, records, id, fill, scope, async (record) => {
    const runtime = await prepareFolder(context, record);
    await using undo = new UndoList();
    undo.add("runtime folder", () => removeRuntimeFolder(host, runtime));
    await linkSockets(context, runtime, adopted);
    undo.keep();
  });
}

/** Adopting once more finds the way to a VM that was started anew, or whose sockets have moved. */
async function findAgain(
  context: QemuContext,
  records: VmRecords,
  { id }: VmRecord,
  adopted: NonNullable<VmRecord["adopted"]>,
  name: string | undefined,
  { signal, warn }: CallScope,
): Promise<void> {
  await using _lock = await takeVmLock(context, id, "adopting", "idle");
  const record = await records.get(id);
  if (record.adopted === undefined) {
    throw new HvError("hv.conflict", `"${record.name}" is a VM that hvlab made itself`, {
      hint: "It needs no adoption",
      context: { vm: id, wanted: "a foreign VM", found: "our own" },
    });
  }
  using _names = await takeNames(context, signal);
  if (name !== undefined) await refuseTakenName(records, name, { except: id, warn });
  const runtime = RuntimeFolder.of(context.host, id).path;
  const next = { ...record, runtime, name: name ?? record.name, adopted };
  await linkSockets(context, await prepareFolder(context, next), adopted);
  await records.save(next);
}

/** Throws when the folder is that of a machine which another state folder, or a lost record, knows. */
async function prepareFolder(
  { host, state }: QemuContext,
  { id, runtime: path }: VmRecord,
): Promise<RuntimeFolder> {
  const runtime = new RuntimeFolder(path);
  await prepareRuntimeFolder(host, runtime, { vm: id, state: state.root });
  return runtime;
}

async function linkSockets(
  { host }: QemuContext,
  runtime: RuntimeFolder,
  { monitor, agent }: NonNullable<VmRecord["adopted"]>,
): Promise<void> {
  await host.files.makeLink(runtime.monitor("calls"), monitor);
  if (agent !== undefined) await host.files.makeLink(runtime.agent, agent);
}

async function findSocket({ host }: QemuContext, locator: string): Promise<string> {
  const path = await host.files.realPath(locator);
  const facts = await host.files.stat(path);
  if (facts?.kind === "other") return path;
  throw new HvError("hv.usage", `"${locator}" is no socket but a ${facts?.kind ?? "name that vanishes"}`, {
    hint: "Name the socket of a QEMU monitor: -qmp unix:PATH,server=on,wait=off",
    context: { path: locator, wanted: "socket", found: facts?.kind ?? null },
  });
}

function adoptedMeanwhile(id: string): HvError {
  return new HvError("hv.conflict", "Another call has adopted this VM in the meantime", {
    hint: `See it with: hvlab vm get ${id}`,
    context: { vm: id, wanted: "absent", found: "adopted" },
    retryable: true,
  });
}

function nameFor({ name, id }: ForeignMachine, monitor: string): string {
  if (name !== undefined) return name;
  throw new HvError("hv.usage", `The QEMU at "${monitor}" has no name`, {
    hint: "Give it one with --name",
    context: { path: monitor, vm: id },
  });
}

async function forgetVm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { signal }: CallScope,
): Promise<void> {
  await records.get(id);
  await using lock = await waitForVmLock(context, id, "removing", signal);
  const record = await records.get(id);
  if (record.adopted === undefined) {
    throw new HvError("hv.unsupported", `Cannot forget "${record.name}": hvlab made it and keeps its files`, {
      hint: `Take it elsewhere with hvlab vm export ${id} FOLDER, then delete it`,
      context: { vm: id },
    });
  }
  await removeFiles(context, lock, record);
}
