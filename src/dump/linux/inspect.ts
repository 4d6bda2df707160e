/** What the headers of Linux dumps tell. Triage of their memory is another matter. */

import type { DumpInspection } from "../../contract/dump.ts";
import { ByteReader, type ByteSource } from "../bytes.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { compareSizes } from "../sizes.ts";
import { unixToIso } from "../time.ts";
import { isBigEndianElf, readElfCore } from "./elf.ts";
import { type KdumpHeader, readFlattenedKdump, readKdumpHeader } from "./kdump.ts";

/** Inspects an ELF core; damaged headers become a warning. */
export function inspectElfCore(source: ByteSource, options: InspectOptions): DumpInspection {
  const warnings: DumpWarning[] = [];
  const bigEndian = isBigEndianElf(new ByteReader(source));
  const reader = new ByteReader(source, { what: "ELF core", bigEndian });
  const core = readPart(warnings, () => readElfCore(reader));
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
    ...compareSizes(core?.end ?? null, source.size, warnings),
    warnings,
  };
}

/** Inspects a kdump-compressed file; a cut header becomes a warning. */
export function inspectKdump(reader: ByteReader, options: InspectOptions): DumpInspection {
  return inspectHeader("kdump", options, reader.size, () => readKdumpHeader(reader));
}

/** Inspects a kdump in the flattened envelope that makedumpfile and QEMU write to pipes. */
export function inspectFlattenedKdump(source: ByteSource, options: InspectOptions): DumpInspection {
  return inspectHeader("kdump_flattened", options, source.size, () => readFlattenedKdump(source));
}

function inspectHeader(
  kind: string,
  options: InspectOptions,
  size: number,
  read: () => KdumpHeader,
): DumpInspection {
  const warnings: DumpWarning[] = [];
  const header = readPart(warnings, read);
  return {
    path: options.path,
    os_version: header?.release ?? null,
    dump_kind: kind,
    machine: header?.machine ?? null,
    processors: header?.processors ?? null,
    core_of: "machine",
    node: header?.node ?? null,
    ...(header === null ? {} : { format_version: String(header.version) }),
    expected_size_bytes: null,
    actual_size_bytes: size,
    warnings,
  };
}
