/** `vm.json` of an exported folder: what VM it holds, and a digest of every file. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { Cpus, MemoryMb } from "../../../contract/arguments.ts";
import { VmName } from "../../../contract/names.ts";
import type { Host } from "../../../host/host.ts";
import type { CallScope } from "../../call_scope.ts";
import { digestFile } from "../../copy_with_digest.ts";
import type { MachineFacts } from "../map.ts";

const RECORD = "vm.json";
const FORMAT = "hvlab-hyperv-vm";
const VERSION = 1;
const RECORD_LIMIT_BYTES = 1024 * 1024;
const BYTES_PER_MIB = 1024 * 1024;

/** A path below the folder, its parts divided by `/`; none of them leads elsewhere. */
function isInnerPath(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !/[\\:]/.test(part));
}

/** It comes from anywhere, so what becomes a path has a form that cannot be anything else. */
const ExportRecord = z.looseObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  name: VmName,
  memory_mb: MemoryMb,
  cpus: Cpus,
  /** Whether its first start goes on with memory that the export holds. */
  keeps_memory: z.boolean(),
  files: z.array(z.looseObject({
    file: z.string().check(z.refine(isInnerPath, "a path inside the folder")),
    size_bytes: z.int(),
    sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, "a SHA-256")),
  })),
});
export type ExportRecord = z.infer<typeof ExportRecord>;

/** Digests the files that Hyper-V has written and adds the record. Answers all files. */
export async function writeExportRecord(
  host: Host,
  folder: string,
  { machine, files, keeps_memory }: {
    machine: Pick<MachineFacts, "name" | "memory_startup" | "cpus">;
    files: readonly string[];
    keeps_memory: boolean;
  },
  { signal, progress }: CallScope,
): Promise<string[]> {
  const entries: ExportRecord["files"] = [];
  for (const path of files) {
    progress({ message: "digesting the files", fraction: entries.length / files.length });
    const file = path.slice(folder.length).replaceAll("\\", "/").replace(/^\/+/, "");
    entries.push({ file, ...await digestFile({ host }, path, signal) });
  }
  const record: ExportRecord = {
    format: FORMAT,
    version: VERSION,
    name: machine.name,
    memory_mb: Math.round(Number(machine.memory_startup) / BYTES_PER_MIB),
    cpus: machine.cpus,
    keeps_memory,
    files: entries,
  };
  const path = joinPath(folder, RECORD);
  await host.files.writeAtomically(path, JSON.stringify(record, undefined, 2) + "\n");
  return [...files, path];
}

/** Reads a folder's record; `undefined` when hvlab did not write the folder. Throws `hv.bad_image` for a damaged one. */
export async function readExportRecord({ files }: Host, folder: string): Promise<ExportRecord | undefined> {
  const path = joinPath(folder, RECORD);
  const facts = await files.stat(path);
  if (facts === undefined) return undefined;
  if (facts.kind !== "file") throw badExport(folder, "no_record", `its ${RECORD} is a ${facts.kind}`);
  if (facts.size_bytes > RECORD_LIMIT_BYTES) {
    throw badExport(folder, "too_large", `its ${RECORD} has ${facts.size_bytes} bytes`);
  }
  const text = await files.readText(path);
  try {
    const parsed = z.safeParse(ExportRecord, parseJson(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "wrong"}`);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw badExport(folder, "damaged_record", `its ${RECORD} cannot be read: ${words}`);
  }
}

/**
 * Holds every file of the folder against the record. Throws `hv.bad_image` for one that is missing, changed or a link.
 */
export async function checkExport(
  host: Host,
  folder: string,
  record: ExportRecord,
  { signal, progress }: CallScope,
): Promise<void> {
  for (const [at, { file, size_bytes, sha256 }] of record.files.entries()) {
    progress({ message: "checking the files", fraction: at / record.files.length });
    const path = joinPath(folder, ...file.split("/"));
    const facts = await host.files.stat(path);
    if (facts?.kind !== "file") {
      throw badExport(
        folder,
        "not_a_file",
        `"${file}" is ${facts === undefined ? "missing" : `a ${facts.kind}`}`,
      );
    }
    const found = await digestFile({ host }, path, signal);
    if (found.size_bytes !== size_bytes || found.sha256 !== sha256) {
      throw badExport(folder, "digest", `"${file}" is not what its record says`);
    }
  }
}

function badExport(folder: string, reason: string, found: string): HvError {
  return new HvError("hv.bad_image", `Cannot import "${folder}": ${found}`, {
    hint: "Name a folder that `hvlab vm export` wrote, unchanged since",
    context: { path: folder, reason },
  });
}
