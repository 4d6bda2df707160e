/** Reads what the header of a dump tells, whatever its kind and size, in a time that does not grow with the file. */

import type { DumpInspection } from "../contract/dump.ts";
import { ByteReader, type ByteSource } from "./bytes.ts";
import type { InspectOptions } from "./inspect_options.ts";
import { inspectElfCore, inspectFlattenedKdump, inspectKdump } from "./linux/inspect.ts";
import { inspectMinidump } from "./minidump/inspect.ts";
import { type DumpFormat, sniffDump } from "./sniff.ts";
import { HEADER32, HEADER64 } from "./windows/header_layout.ts";
import { inspectKernelDump } from "./windows/inspect.ts";
import {
  inspectEncryptedFirmwareDump,
  inspectFirmwareDump,
  inspectLegacyUserDump,
} from "./windows/others.ts";

/**
 * Inspects a dump. Reads one 8 KiB piece and, by kind, a few small ones more. What is waited for is only the part of
 * the bug check catalogue that the dump needs.
 *
 * Fails with `hv.bad_dump` and `context.reason` `empty`, `too_short`, `bad_signature`, `not_a_dump`,
 * `byte_swapped`, `being_written`, `stream_count`, `stream_directory`, `header_damaged` or `truncated` when not even
 * the header can be told; what the source throws passes through. Everything else that is wrong is a warning.
 */
export async function inspectDump(source: ByteSource, options: InspectOptions): Promise<DumpInspection> {
  const reader = new ByteReader(source);
  return await INSPECTORS[sniffDump(reader)](reader, options, source);
}

type Inspector = (
  reader: ByteReader,
  options: InspectOptions,
  source: ByteSource,
) => DumpInspection | Promise<DumpInspection>;

const INSPECTORS: Readonly<Record<DumpFormat, Inspector>> = {
  kernel64: (reader, options) => inspectKernelDump(reader, HEADER64, options),
  kernel32: (reader, options) => inspectKernelDump(reader, HEADER32, options),
  minidump: inspectMinidump,
  legacy_user: inspectLegacyUserDump,
  firmware_raw: inspectFirmwareDump,
  firmware_encrypted: inspectEncryptedFirmwareDump,
  elf_core: (_reader, options, source) => inspectElfCore(source, options),
  kdump: inspectKdump,
  kdump_flattened: (_reader, options, source) => inspectFlattenedKdump(source, options),
};
