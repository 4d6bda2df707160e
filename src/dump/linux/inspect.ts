/** What the headers of Linux dumps tell. Triage of their memory is another matter. */

import type { DumpInspection } from "../../contract/dump.ts";
import { ByteReader, type ByteSource } from "../bytes.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { jsonCount } from "../numbers.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { compareSizes } from "../sizes.ts";
import { unixToIso } from "../time.ts";
import { type ElfCore, isBigEndianElf, readElfCore } from "./elf.ts";
import { type KdumpHeader, readFlattenedKdump, readKdumpHeader, readKdumpIdentity } from "./kdump.ts";

/**
 * Inspects an ELF core; damaged headers become a warning. When its notes lead to the kernel's log, the log is asked for
 * the panic: that reads the log and the page tables to it, whatever the core's size.
 */
export async function inspectElfCore(source: ByteSource, options: InspectOptions): Promise<DumpInspection> {
  const warnings: DumpWarning[] = [];
  const bigEndian = isBigEndianElf(new ByteReader(source));
  const reader = new ByteReader(source, { what: "ELF core", bigEndian });
  const core = readPart(warnings, () => readElfCore(reader));
  const tellsOfKernel = core !== null && core.release !== null;
  const crash = tellsOfKernel ? (await import("./crash_report.ts")).readCrashReport(source) : null;
  return {
    path: options.path,
    os_version: core?.release ?? null,
    dump_kind: "elf_core",
    machine: core?.machine ?? null,
    processors: core?.coreOf === "machine" ? core.registerSets : null,
    time: core === null || core.crashTime === null ? null : unixToIso(core.crashTime),
    producer: core?.producer ?? null,
    ...(core?.coreOf === "process" ? { threads: core.registerSets } : {}),
    core_of: core?.coreOf ?? null,
    ...(core?.coreOf === "machine"
      ? {
        build_id: core.buildId,
        memory_bytes: jsonCount(core.memory),
        ...(core.reducedFrom === null ? {} : { reduced_from_bytes: jsonCount(core.reducedFrom) }),
        panic: crash?.panic ?? null,
        report: crash?.report ?? null,
      }
      : {}),
    ...compareSizes(core?.end ?? null, source.size, warnings),
    warnings,
  };
}

/** Inspects a kdump-compressed file; a cut header becomes a warning. */
export function inspectKdump(reader: ByteReader, options: InspectOptions): DumpInspection {
  return inspectHeader("kdump", options, reader.size, () => ({
    header: readKdumpHeader(reader),
    identity: readKdumpIdentity(reader),
  }));
}

/** Inspects a kdump in the flattened envelope that makedumpfile and QEMU write to pipes. */
export function inspectFlattenedKdump(source: ByteSource, options: InspectOptions): DumpInspection {
  return inspectHeader("kdump_flattened", options, source.size, () => readFlattenedKdump(source));
}

/** What the two headers of a kdump tell. */
interface KdumpFacts {
  readonly header: KdumpHeader;
  readonly identity: Pick<ElfCore, "release" | "buildId" | "crashTime"> | null;
}

function inspectHeader(
  kind: string,
  options: InspectOptions,
  size: number,
  read: () => KdumpFacts,
): DumpInspection {
  const warnings: DumpWarning[] = [];
  const facts = readPart(warnings, read);
  const header = facts?.header ?? null;
  const identity = facts?.identity ?? null;
  return {
    path: options.path,
    os_version: header?.release ?? identity?.release ?? null,
    dump_kind: kind,
    machine: header?.machine ?? null,
    processors: header?.processors ?? null,
    time: identity === null || identity.crashTime === null ? null : unixToIso(identity.crashTime),
    core_of: "machine",
    node: header?.node ?? null,
    build_id: identity?.buildId ?? null,
    ...(header === null ? {} : { format_version: String(header.version) }),
    expected_size_bytes: null,
    actual_size_bytes: size,
    warnings,
  };
}
