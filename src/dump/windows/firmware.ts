/** Dumps that firmware wrote without Windows: `Raw_Dmp!` and its encrypted form `Enc_Dmp!`. */

import type { ByteReader } from "../bytes.ts";
import { at, type Layout } from "../layout.ts";
import { bitNames } from "./meaning.ts";

/** Header of a raw firmware dump, 56 bytes. */
export const RAW_DUMP_HEADER = {
  signature: at(0x00, 8, "offline-crash-dump-uefi"),
  major_version: at(0x08, 2, "offline-crash-dump-uefi"),
  minor_version: at(0x0A, 2, "offline-crash-dump-uefi"),
  flags: at(0x0C, 4, "offline-crash-dump-uefi"),
  os_data: at(0x10, 8, "offline-crash-dump-uefi"),
  cpu_context: at(0x18, 8, "offline-crash-dump-uefi"),
  reset_trigger: at(0x20, 4, "offline-crash-dump-uefi"),
  dump_size: at(0x24, 8, "offline-crash-dump-uefi"),
  total_size_required: at(0x2C, 8, "offline-crash-dump-uefi"),
  sections_count: at(0x34, 4, "offline-crash-dump-uefi"),
} as const satisfies Layout;

const SECTION_BYTES = 64;
const SECTION_TYPE = 8;
const SECTION_SYSTEM_INFORMATION = 5;
/** Vendor (4) and platform (8) stand before the architecture in a system information section. */
const SECTION_ARCHITECTURE = 28 + 12;
const MAXIMUM_SECTIONS = 100;

const FLAG_BITS: ReadonlyMap<number, string> = new Map([
  [0, "valid"],
  [1, "insufficient_storage"],
  [2, "hypervisor_data_protected"],
  [3, "caches_flushed"],
]);

/** What a raw firmware dump says of itself. */
export interface FirmwareDump {
  version: string;
  attributes: string[];
  dumpSize: bigint;
  sizeRequired: bigint;
  sections: number;
  /** Null when no section with system information is among the first ones. */
  machine: string | null;
}

/** Reads the header and looks for the architecture in the first sections; fails when the header is cut. */
export function readFirmwareDump(reader: ByteReader): FirmwareDump {
  const header = RAW_DUMP_HEADER;
  const sections = reader.u32(header.sections_count.offset, "SectionsCount");
  return {
    version: `${reader.u16(header.major_version.offset, "MajorVersion")}.${
      reader.u16(header.minor_version.offset, "MinorVersion")
    }`,
    attributes: bitNames(reader.u32(header.flags.offset, "Flags"), FLAG_BITS),
    dumpSize: reader.u64(header.dump_size.offset, "DumpSize"),
    sizeRequired: reader.u64(header.total_size_required.offset, "TotalDumpSizeRequired"),
    sections,
    machine: findMachine(reader, Math.min(sections, MAXIMUM_SECTIONS)),
  };
}

function findMachine(reader: ByteReader, sections: number): string | null {
  for (let index = 0; index < sections; index++) {
    const start = 56 + index * SECTION_BYTES;
    if (!reader.has(start, SECTION_BYTES)) return null;
    if (reader.u32(start + SECTION_TYPE, "section type") !== SECTION_SYSTEM_INFORMATION) continue;
    const architecture = reader.u32(start + SECTION_ARCHITECTURE, "architecture");
    return architecture === 0 ? "arm64" : architecture === 1 ? "x64" : null;
  }
  return null;
}
