/** `vm.json` of an exported folder: what the VM is made of, and a digest of every file beside it. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { Cpus, MemoryMb } from "../../../contract/arguments.ts";
import { WatchdogAction } from "../../../contract/device.ts";
import { VmName } from "../../../contract/names.ts";
import { Firmware } from "../../../contract/vm.ts";
import { isOurTag } from "../checkpoints/files.ts";
import { MachineShape } from "../checkpoints/machine_shape.ts";
import type { QemuContext } from "../context.ts";
import { digestFile } from "../../copy_with_digest.ts";
import { recordedNics } from "../network/nic_records.ts";
import { DISK_FILES } from "../overlay.ts";
import { OwnFile, type VmRecord } from "../records.ts";

/** The record's name in the folder. */
export const EXPORT_RECORD = "vm.json";
/** By which a record says what it is. */
export const EXPORT_FORMAT = "hvlab-vm";
/** The layout of the record that is written, and the only one that is read. */
export const EXPORT_VERSION = 1;
/** A real record has a few KiB. */
const RECORD_LIMIT_BYTES = 1024 * 1024;

/** It comes from anywhere: what becomes a path, a tag or an option has a form that cannot be anything else. */
const ExportRecord = z.looseObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(EXPORT_VERSION),
  name: VmName,
  /** The image that it was made from; nothing of it is needed any more. */
  image: z.optional(z.string()),
  machine: z.string().check(z.regex(/^[A-Za-z0-9._-]{1,64}$/, "a machine type")),
  memory_mb: MemoryMb,
  cpus: Cpus,
  firmware: z.optional(Firmware),
  network: z.optional(z.boolean()),
  boot: z.discriminatedUnion("kind", [
    z.looseObject({ kind: z.literal("disk") }),
    z.looseObject({
      kind: z.literal("kernel"),
      kernel: OwnFile,
      initrd: z.optional(OwnFile),
      append: z.optional(z.string().check(z.maxLength(65_536))),
    }),
  ]),
  disks: z.array(z.looseObject({
    node: z.enum(DISK_FILES.map(({ node }) => node)),
    file: OwnFile,
    format: z.literal("qcow2"),
  })),
  /** Memory of a checkpoint, from which the first start goes on. */
  saved: z.optional(z.looseObject({
    file: OwnFile,
    tag: z.string().check(z.refine(isOurTag, "a tag that hvlab gives")),
    at: z.string(),
    memory: MachineShape,
  })),
  /** What its TPM must not forget. */
  tpm: z.optional(z.looseObject({ files: z.array(OwnFile) })),
  watchdog: z.optional(WatchdogAction),
  /** Every file but this record. */
  files: z.array(z.looseObject({
    file: OwnFile,
    size_bytes: z.int(),
    sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, "a SHA-256")),
  })),
});
export type ExportRecord = z.infer<typeof ExportRecord>;

/** What an export states beside what follows from the VM's record. */
export type Exported =
  & Pick<ExportRecord, "boot" | "disks">
  & Partial<Pick<ExportRecord, "saved" | "tpm" | "machine" | "memory_mb" | "cpus">>
  & { checkpoint?: { id: string; name: string; created_at: string } };

/** Digests the given files of the folder and writes its record. Answers the record's path. */
export async function writeExportRecord(
  context: QemuContext,
  folder: string,
  vm: VmRecord,
  exported: Exported,
  signal: AbortSignal,
): Promise<string> {
  const { boot, disks, saved, tpm } = exported;
  const names = [
    ...disks.map(({ file }) => file),
    ...(boot.kind === "kernel" ? [boot.kernel, ...(boot.initrd === undefined ? [] : [boot.initrd])] : []),
    ...(saved === undefined ? [] : [saved.file]),
    ...(tpm?.files ?? []),
  ];
  const files: ExportRecord["files"] = [];
  for (const file of names) {
    const path = joinPath(folder, file);
    files.push({ file, ...await digestFile(context, path, signal) });
    await context.host.files.sync(path);
  }
  const { name, image, machine, memory_mb, cpus, firmware, watchdog } = vm;
  // Switches are this host's own: elsewhere a VM with cards gets the usual one.
  const network = recordedNics(vm).length === 0 ? false : undefined;
  const record: ExportRecord = {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    name,
    ...(image === undefined ? {} : { image }),
    machine,
    memory_mb,
    cpus,
    ...(firmware === undefined ? {} : { firmware }),
    ...(network === undefined ? {} : { network }),
    ...(watchdog === undefined ? {} : { watchdog }),
    ...exported,
    files,
  };
  const path = joinPath(folder, EXPORT_RECORD);
  await context.host.files.writeAtomically(path, JSON.stringify(record, undefined, 2) + "\n");
  return path;
}

/** Reads a folder's record. Throws `hv.bad_image` when it is none. */
export async function readExportRecord({ host }: QemuContext, folder: string): Promise<ExportRecord> {
  const path = joinPath(folder, EXPORT_RECORD);
  const facts = await host.files.stat(path);
  if (facts === undefined) throw badExport(folder, "no_record", `it holds no ${EXPORT_RECORD}`);
  if (facts.kind !== "file") throw badExport(folder, "not_a_file", `its ${EXPORT_RECORD} is a ${facts.kind}`);
  if (facts.size_bytes > RECORD_LIMIT_BYTES) {
    throw badExport(folder, "too_large", `its ${EXPORT_RECORD} has ${facts.size_bytes} bytes`);
  }
  const text = await host.files.readText(path);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw badExport(folder, "damaged_record", `its ${EXPORT_RECORD} is no JSON: ${words}`);
  }
  const parsed = z.safeParse(ExportRecord, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") || "the whole";
  throw badExport(folder, "damaged_record", `${where} in its ${EXPORT_RECORD}: ${issue?.message ?? "wrong"}`);
}

/** The failure of a folder that no VM can be made of. */
export function badExport(folder: string, reason: string, found: string): HvError {
  return new HvError("hv.bad_image", `Cannot import "${folder}": ${found}`, {
    hint: "Name a folder that `hvlab vm export` wrote, unchanged since",
    context: { path: folder, reason },
  });
}
