/** Copies of a VM's disks: of one that is off by qemu-img, of one that lives by its own QEMU. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject, parseJson } from "../../../base/json.ts";
import type { DiskMoment } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import { textIn } from "../monitor/answers.ts";
import { type DiskFile, disksOf, runQemuImg } from "../checkpoints/files.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import { QEMU_IMG, type QemuContext } from "../context.ts";
import { type Observation, observe } from "../observe.ts";
import type { BaseDisk } from "../overlay.ts";
import type { VmRecord } from "../records.ts";
import { type CopyKind, copyLive, type DiskCopy } from "./live_copy.ts";

/**
 * Copies all disks of a VM as they are at one moment, without snapshots. The caller holds the VM's lock. Answers which
 * moment that is; `undefined` for a VM without disks.
 */
export async function copyDisks(
  context: QemuContext,
  record: VmRecord,
  targetOf: (disk: DiskFile) => string,
  kind: CopyKind,
  scope: CallScope,
): Promise<{ copies: DiskCopy[]; moment: DiskMoment | undefined }> {
  const { signal, progress } = scope;
  const seen = await observe(context, record, signal);
  if (seen.alive && seen.status === undefined) throw notSeen(record, seen);
  const copies = (await disksOf(context, record.id)).map((disk) => ({ ...disk, target: targetOf(disk) }));
  if (copies.length === 0) return { copies, moment: undefined };
  progress({ message: "Copying disks" });
  if (!seen.alive) {
    for (const copy of copies) await copyAtRest(context, copy, kind, signal);
    return { copies, moment: seen.state === "saved" ? "power_cut" : "at_rest" };
  }
  for (const copy of copies) await makeTarget(context, copy, kind, signal);
  await copyLive(new VmMonitor(context, record), copies, kind, scope);
  return { copies, moment: "power_cut" };
}

async function copyAtRest(
  context: QemuContext,
  { path, target }: DiskCopy,
  kind: CopyKind,
  signal: AbortSignal,
): Promise<void> {
  const { base } = await readDisk(context, path, signal);
  const lean = kind === "leaning" && base !== undefined ? ["-B", base.path, "-F", base.format] : [];
  await runQemuImg(context, ["convert", "-f", "qcow2", "-O", "qcow2", ...lean, path, target], path, signal);
}

/** An empty disk of the same size, for QEMU to write into. */
async function makeTarget(
  context: QemuContext,
  { path, target }: DiskCopy,
  kind: CopyKind,
  signal: AbortSignal,
): Promise<void> {
  const { base, size } = await readDisk(context, path, signal);
  const lean = kind === "leaning" && base !== undefined ? ["-b", base.path, "-F", base.format] : [];
  const words = ["create", "-q", "-f", "qcow2", ...lean, target, String(size)];
  await runQemuImg(context, words, target, signal);
}

/** What one of our own disks says of itself; a living QEMU may hold it (`-U`). */
async function readDisk(
  { host }: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<{ size: number; base: BaseDisk | undefined }> {
  const words = ["info", "-U", "-f", "qcow2", "--output=json", path];
  const finished = await host.processes.run(QEMU_IMG, words, { signal });
  const said = new TextDecoder().decode(finished.stderr).trim();
  const info: unknown = finished.code === 0
    ? parseJson(new TextDecoder().decode(finished.stdout))
    : undefined;
  const size = isPlainObject(info) ? info["virtual-size"] : undefined;
  if (typeof size !== "number") {
    throw new HvError("hv.io", `Cannot read the disk "${path}": ${said || "qemu-img tells no size"}`, {
      hint: "Correct what qemu-img names, and try again",
      context: { path },
    });
  }
  const base = textIn(info, "full-backing-filename") ?? textIn(info, "backing-filename");
  const format = textIn(info, "backing-filename-format");
  return { size, base: base === undefined ? undefined : { path: base, format: format ?? "raw" } };
}

function notSeen(record: VmRecord, { state, reason }: Observation): HvError {
  const because = reason === undefined ? "" : `: ${reason}`;
  return new HvError("hv.conflict", `Cannot copy "${record.name}" while it is ${state}${because}`, {
    hint: `Wait a moment, or cut its power: hvlab vm stop ${record.id} --mode off`,
    context: { vm: record.id, wanted: "running or off", found: state },
    retryable: true,
  });
}
