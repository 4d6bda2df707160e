/** Windows dumps that are recognised and described, but not read further. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { ByteReader } from "../bytes.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { compareSizes } from "../sizes.ts";
import { readFirmwareDump } from "./firmware.ts";

/** A full user dump in the form that debuggers wrote before minidumps: its kind and nothing else. */
export function inspectLegacyUserDump(reader: ByteReader, options: InspectOptions): DumpInspection {
  return {
    path: options.path,
    os_version: null,
    dump_kind: "legacy_user",
    expected_size_bytes: null,
    actual_size_bytes: reader.size,
    warnings: [{
      reason: "unsupported_kind",
      message: "Only the kind of such an old user dump is told; a debugger can convert it to a minidump",
    }],
  };
}

/** A dump that firmware wrote after a hang. */
export function inspectFirmwareDump(reader: ByteReader, options: InspectOptions): DumpInspection {
  const warnings: DumpWarning[] = [];
  const dump = readPart(warnings, () => readFirmwareDump(reader));
  return {
    path: options.path,
    os_version: null,
    dump_kind: "firmware_raw",
    machine: dump?.machine ?? null,
    attributes: dump?.attributes ?? null,
    encrypted: false,
    producer: "firmware",
    ...(dump === null ? {} : { streams: dump.sections, format_version: dump.version }),
    ...compareSizes(dump?.dumpSize ?? null, reader.size, warnings),
    warnings,
  };
}

/** The encrypted form: nothing of the machine can be told. */
export function inspectEncryptedFirmwareDump(reader: ByteReader, options: InspectOptions): DumpInspection {
  return {
    path: options.path,
    os_version: null,
    dump_kind: "firmware_encrypted",
    encrypted: true,
    producer: "firmware",
    expected_size_bytes: null,
    actual_size_bytes: reader.size,
    warnings: [{
      reason: "encrypted",
      message: "The whole dump is encrypted: nothing can be read without the key",
    }],
  };
}
