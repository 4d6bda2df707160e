/**
 * A VM of an exported folder. The folder comes from anywhere: only plain files in it are read, each is held against
 * its digest, and what is a disk must be one that leads to no other file.
 */

import { newVmId } from "../../../base/ids.ts";
import { folderOf, joinPath } from "../../../base/paths.ts";
import type { CallScope } from "../../call_scope.ts";
import { memoryFileIn } from "../checkpoints/files.ts";
import type { QemuContext } from "../context.ts";
import { copyWithDigest } from "../../copy_with_digest.ts";
import { bringIntoBeing, newRecord } from "../creation.ts";
import { findFirmware } from "../launch/firmware.ts";
import { checkDiskHeader, checkDiskWithProgram, checkInitrd, checkKernel } from "../images/checks.ts";
import { DISK_FILES } from "../overlay.ts";
import { findQemuImg } from "../launch/program.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { findTpmProgram, TPM_FOLDER } from "../launch/tpm.ts";
import { badExport, type ExportRecord, readExportRecord } from "./export_record.ts";

type Role = "disk" | "kernel" | "initrd" | "tpm";

/** One file to take in. */
interface Part {
  file: string;
  role: Role;
  /** Where it goes in the VM's folder. */
  target: (home: string) => string;
}

/** Makes the VM and answers its id. */
export async function importVm(
  context: QemuContext,
  records: VmRecords,
  folder: string,
  name: string | undefined,
  scope: CallScope,
): Promise<string> {
  const exported = await readExportRecord(context, folder);
  const { firmware, tpm } = exported;
  if (firmware !== undefined && firmware !== "bios") await findFirmware(context, firmware);
  if (tpm !== undefined) await findTpmProgram(context);
  await findQemuImg(context);
  const id = newVmId();
  await bringIntoBeing(context, records, id, async (passing) => {
    if (tpm !== undefined) {
      await context.host.files.makeFolder(joinPath(passing, TPM_FOLDER), { mode: 0o700 });
    }
    for (const part of partsOf(exported)) await takeIn(context, exported, folder, part, passing, scope);
    return recordOf(context, exported, id, name ?? exported.name);
  }, scope);
  return id;
}

function partsOf({ boot, disks, saved, tpm }: ExportRecord): Part[] {
  const parts: Part[] = [];
  for (const { node, file } of disks) {
    const own = DISK_FILES.find((disk) => disk.node === node);
    if (own !== undefined) parts.push({ file, role: "disk", target: inside(own.file) });
  }
  if (boot.kind === "kernel") {
    parts.push({ file: boot.kernel, role: "kernel", target: inside("kernel") });
    if (boot.initrd !== undefined) {
      parts.push({ file: boot.initrd, role: "initrd", target: inside("initrd") });
    }
  }
  if (saved !== undefined) {
    parts.push({ file: saved.file, role: "disk", target: (home) => memoryFileIn(home, saved.tag) });
  }
  for (const file of tpm?.files ?? []) {
    parts.push({ file, role: "tpm", target: inside(joinPath(TPM_FOLDER, file)) });
  }
  return parts;
}

function inside(file: string): (home: string) => string {
  return (home) => joinPath(home, file);
}

async function takeIn(
  context: QemuContext,
  exported: ExportRecord,
  folder: string,
  { file, role, target }: Part,
  passing: string,
  scope: CallScope,
): Promise<void> {
  const { files } = context.host;
  const stated = exported.files.find((entry) => entry.file === file);
  if (stated === undefined) throw badExport(folder, "no_digest", `its record gives no digest of "${file}"`);
  const source = joinPath(folder, file);
  const facts = await files.stat(source);
  if (facts?.kind !== "file") {
    const found = facts === undefined ? `"${file}" is missing` : `"${file}" is a ${facts.kind}`;
    throw badExport(folder, "not_a_file", found);
  }
  const path = target(passing);
  await files.makeFolder(folderOf(path));
  const copied = await copyWithDigest(context, file, source, path, scope);
  if (copied.size_bytes !== stated.size_bytes || copied.sha256 !== stated.sha256) {
    throw badExport(folder, "digest", `"${file}" is not what its record says`);
  }
  // Its program checks it when it starts.
  if (role === "tpm") return;
  // The copy counts: the folder may change at any time.
  {
    using reader = files.open(path);
    if (role === "kernel") return checkKernel(reader, source);
    if (role === "initrd") return checkInitrd(reader, source);
    const format = checkDiskHeader(reader, source);
    if (format !== "qcow2") throw badExport(folder, "format", `"${file}" is no qcow2 disk`);
  }
  await checkDiskWithProgram(context, path, "qcow2", scope.signal);
}

function recordOf(context: QemuContext, exported: ExportRecord, id: string, name: string): VmRecord {
  const { boot, saved, disks, memory_mb, cpus, machine, firmware, network, tpm, watchdog } = exported;
  const { version } = context;
  return {
    ...newRecord(context, id, name),
    ...(version === undefined ? {} : { made_by: version }),
    memory_mb,
    cpus,
    machine,
    ...(boot.kind === "disk" ? {} : {
      boot: {
        kernel: "kernel",
        ...(boot.initrd === undefined ? {} : { initrd: "initrd" }),
        ...(boot.append === undefined ? {} : { append: boot.append }),
      },
    }),
    ...(firmware === undefined ? {} : { firmware }),
    ...(network === undefined ? {} : { network }),
    ...(tpm === undefined ? {} : { tpm: true }),
    ...(watchdog === undefined ? {} : { watchdog }),
    ...(saved === undefined ? {} : {
      saved: {
        phase: "saved",
        tag: saved.tag,
        at: saved.at,
        disks: disks.map(({ node }) => node),
        memory: saved.memory,
      },
    }),
  };
}
