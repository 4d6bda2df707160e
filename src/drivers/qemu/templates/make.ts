/** Making a template: a machine of the image is booted, settled and frozen, and its files appear all at once. */

import { startDeadline } from "../../../base/deadline.ts";
import { HvError } from "../../../base/errors.ts";
import { newVmId, uuidOf } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { Image } from "../../../contract/image.ts";
import { startSha256 } from "../../../host/digest.ts";
import type { CallScope } from "../../call_scope.ts";
import { linkFor, openAgentChannel } from "../agent/channel.ts";
import type { MachinePlan } from "../launch/machine_plan.ts";
import type { QemuContext } from "../context.ts";
import { kernelBoot } from "../images/images.ts";
import { launch, type Launched } from "../launch/launch.ts";
import { FULL_DISK_SIGNAL, readLogTail } from "../launch/errors.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { diskOf, makeOverlay } from "../overlay.ts";
import { endProcess } from "../power/power_off.ts";
import { MAKING_PREFIX } from "../records.ts";
import { prepareRuntimeFolder, removeRuntimeFolder, RuntimeFolder } from "../runtime_folder.ts";
import { takeVmLock } from "../vm_lock.ts";
import { saveDeviceState } from "./device_state.ts";
import { requireSpace } from "./space.ts";
import { fingerprintOf, type TemplateKey } from "./fingerprint.ts";
import {
  type FrozenFile,
  readTemplate,
  STUB_FILE,
  type Template,
  TEMPLATE_FILES,
  TEMPLATE_RECORD,
  templatesFolder,
  type Waking,
  writeTemplateRecord,
} from "./record.ts";
import { settleGuest } from "./settle.ts";
import { stubKernel } from "./stub_kernel.ts";

/** A full Debian needs 20 s to its agent under emulation, a busy host longer; a guest without one never answers. */
const READY_LIMIT_MS = 600_000;
const CHUNK_BYTES = 1024 * 1024;

/**
 * Makes the template of a key; the caller holds the image's template lock. While it is being made it is a VM's
 * unfinished folder, so that a maker who is killed leaves what every sweep removes. Throws `hv.timeout` when the
 * guest's agent never answers.
 */
export async function makeTemplate(
  context: QemuContext,
  image: Image,
  key: TemplateKey,
  scope: CallScope,
): Promise<Template> {
  const { host, state, version } = context;
  const id = newVmId();
  const fingerprint = await fingerprintOf(key);
  await using lock = await takeVmLock(context, id, "making", "absent");
  lock.endWithVm();
  await using undo = new UndoList();
  const passing = joinPath(state.vms, `${MAKING_PREFIX}${id}`);
  undo.add("folder", () => host.files.remove(passing));
  await host.files.makeFolder(passing);
  await requireSpace(host, passing, key.memory_mb, scope.signal);
  const waking = await bootAndFreeze(context, { id, image, key, folder: passing }, scope);

  scope.progress({ message: "Writing the template down" });
  const home = joinPath(templatesFolder(context, image.name), fingerprint);
  const finished = joinPath(passing, "template");
  await host.files.makeFolder(finished);
  const files: FrozenFile[] = [];
  for (const role of image.kind === "disk" ? ["ram", "state", "disk"] as const : ["ram", "state"] as const) {
    const target = joinPath(finished, TEMPLATE_FILES[role]);
    await host.files.rename(joinPath(passing, TEMPLATE_FILES[role]), target);
    files.push(await seal(context, role, target, scope.signal));
  }
  if (image.kind === "kernel") await writeStub(context, joinPath(finished, STUB_FILE));
  const record = {
    fingerprint,
    image: image.name,
    key,
    created_at: new Date(host.clock.now()).toISOString(),
    ...(version === undefined ? {} : { made_by: version }),
    files,
    waking,
  };
  await host.files.writeAtomically(joinPath(finished, TEMPLATE_RECORD), writeTemplateRecord(record));
  scope.signal.throwIfAborted();
  await host.files.makeFolder(templatesFolder(context, image.name));
  await host.files.remove(home);
  await host.files.rename(finished, home);
  const made = await readTemplate(context, image.name, fingerprint);
  if (made !== undefined) return made;
  throw new HvError("hv.internal", `The new template "${home}" cannot be read`);
}

interface Making {
  id: string;
  image: Image;
  key: TemplateKey;
  /** Where its files are made. */
  folder: string;
}

/** Leaves RAM, device state and disk in the folder, and no process. */
async function bootAndFreeze(
  context: QemuContext,
  { id, image, key, folder }: Making,
  scope: CallScope,
): Promise<Waking> {
  const { host, state } = context;
  const runtime = RuntimeFolder.of(host, id);
  const disk = joinPath(folder, TEMPLATE_FILES.disk);
  if (image.kind === "disk") await makeOverlay(context, diskOf(image), disk, scope.signal);
  await using undo = new UndoList();
  await prepareRuntimeFolder(host, runtime, { vm: id, state: state.root });
  undo.add("runtime folder", () => removeRuntimeFolder(host, runtime));
  scope.progress({ message: "Booting the guest that becomes the template" });
  const plan: MachinePlan = {
    uuid: uuidOf(id),
    name: `template of ${image.name}`,
    machine: key.machine,
    accelerator: key.accelerator,
    memory_mb: key.memory_mb,
    cpus: key.cpus,
    ramFile: { path: joinPath(folder, TEMPLATE_FILES.ram), shared: true },
    boot: image.kind === "disk"
      ? { kind: "disk", path: disk, format: "qcow2" }
      : kernelBoot(image, { fast: true }),
    runtime,
    serialLog: joinPath(folder, "serial.log"),
    confined: host.os === "linux",
  };
  using limit = startDeadline(host.clock, READY_LIMIT_MS, scope.signal);
  const { signal } = limit;
  const log = joinPath(folder, "qemu.log");
  const launched = await launch(context, {
    id,
    plan,
    runtime,
    log,
    tiedToUs: true,
    signal,
    onSpawned: () => Promise.resolve(),
  });
  undo.add("QEMU", () => endProcess(context, { id, runtime: runtime.path }, AbortSignal.timeout(30_000)));
  const over = new AbortController();
  const address = {
    host,
    socket: runtime.agent,
    lock: runtime.agentLock,
    // While it settles its QEMU's end is seen by itself; afterwards nothing more is asked of it.
    isCrashed: () =>
      Promise.resolve(over.signal.aborted ? { reason: "It is not needed any more" } : undefined),
  };
  const guest = { host, channel: openAgentChannel(address), link: linkFor(address) };
  const settling = settleGuest(guest, { ...scope, signal: AbortSignal.any([signal, over.signal]) });
  try {
    const waking = await unlessItEnds(host, launched, settling, log);
    scope.progress({ message: "Freezing the guest" });
    const frozen = await askMonitor(host, id, runtime, async (session) => {
      await saveDeviceState(host, session, runtime, joinPath(folder, TEMPLATE_FILES.state), signal);
      return {};
    }, { signal });
    if (frozen === undefined) throw endedTooEarly(await readLogTail(host, log), null);
    // Its files count only once it can write to them no more.
    await endProcess(context, { id, runtime: runtime.path }, signal);
    return waking;
  } finally {
    // The settling waits for its guest without a limit, and uses the runtime folder that goes away now.
    over.abort();
    await settling.catch(() => {});
    guest.channel.close();
  }
}

/** A disk that fills up takes QEMU by surprise: it writes its RAM into a file with holes, and dies of SIGBUS. */
async function unlessItEnds<T>(
  host: QemuContext["host"],
  launched: Launched,
  work: Promise<T>,
  log: string,
): Promise<T> {
  work.catch(() => {});
  const ending = launched.child.ended.then(async ({ signal }) => {
    throw endedTooEarly(await readLogTail(host, log), signal);
  });
  ending.catch(() => {});
  return await Promise.race([work, ending]);
}

/** Carries QEMU's words, if any: the folder with its log goes away with the attempt. */
export function endedTooEarly(words: string, ended: string | null): HvError {
  const qemu = words.trim();
  const context = { ...(qemu === "" ? {} : { qemu }), signal: ended };
  if (ended === FULL_DISK_SIGNAL) {
    const message =
      `Signal ${ended} ended QEMU before its guest could be frozen: most likely the disk is full`;
    return new HvError("hv.io", message, {
      hint:
        "Free room for the guest's whole memory in the state folder, or name another one with HVLAB_STATE",
      context,
    });
  }
  return new HvError("hv.job_failed", "QEMU ended before its guest could be frozen", {
    hint:
      "Check that the state folder has room for the guest's memory, and that the guest does not power off",
    context,
  });
}

/** Brings a file to the disk, digests it and makes it read-only. */
async function seal(
  { host }: QemuContext,
  role: FrozenFile["role"],
  path: string,
  signal: AbortSignal,
): Promise<FrozenFile> {
  await host.files.sync(path);
  // QEMU 7.2 opens the RAM file for writing even to map it privately, so another user than root needs the right to.
  if (role !== "ram") await host.files.makeReadOnly(path);
  const sha256 = await digestFile({ host }, path, signal);
  const facts = await host.files.stat(path);
  return { role, size_bytes: facts?.size_bytes ?? 0, modified: facts?.modified ?? null, sha256 };
}

/** The SHA-256 of a whole file. */
export async function digestFile(
  { host }: Pick<QemuContext, "host">,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const digest = await startSha256();
  using file = host.files.open(path);
  for (let offset = 0; offset < file.size; offset += CHUNK_BYTES) {
    signal.throwIfAborted();
    digest.update(file.read(offset, CHUNK_BYTES));
  }
  return digest.end();
}

async function writeStub({ host }: QemuContext, path: string): Promise<void> {
  using writer = await host.files.create(path);
  await writer.write(stubKernel());
  await writer.sync();
  await host.files.makeReadOnly(path);
}
