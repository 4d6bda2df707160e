/** Checks of a kernel dump's header and size that give warnings, never refusals. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { ByteReader } from "../bytes.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { hex64, hexPointer } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";
import { compareSizes, type SizeFields } from "../sizes.ts";
import { filetimeToIso } from "../time.ts";
import type { KernelBody } from "./body.ts";
import type { KernelHeader } from "./header.ts";
import type { HeaderLayout } from "./header_layout.ts";
import { ATTRIBUTE, hasAttribute } from "./meaning.ts";

/** Whether the pages are encrypted; null when the attributes were never written. */
export function isEncrypted(header: KernelHeader): boolean | null {
  const encrypted = hasAttribute(header.attributes, ATTRIBUTE.encrypted);
  return encrypted === null
    ? null
    : encrypted && hasAttribute(header.attributes, ATTRIBUTE.decrypted) === false;
}

/** A file that ends before the last field that is told is too short; one that ends later is truncated. */
export function kernelSizes(
  reader: ByteReader,
  layout: HeaderLayout,
  body: KernelBody,
  warnings: DumpWarning[],
): SizeFields {
  const { boot_id, system_time } = layout.fields;
  const told = Math.max(boot_id.offset + boot_id.size, system_time.offset + system_time.size);
  if (reader.size >= told) {
    const atLeast = reader.size < layout.size ? BigInt(layout.size) : null;
    return compareSizes(body.summary.expectedSize ?? atLeast, reader.size, warnings);
  }
  warnings.push({
    reason: "too_short",
    message: `The header needs ${layout.size} bytes, the file has ${reader.size}: later fields are missing`,
    expected: layout.size,
    actual: reader.size,
  });
  return { expected_size_bytes: layout.size, actual_size_bytes: reader.size };
}

const PAGE_TABLE_MASK = { 64: 0x7FFF_FFFF_FFFF_F000n, 32: 0xFFFF_FFE0n } as const;

/** Warns of values that debuggers refuse or that keep the body from being read. */
export function warnOfHeader(
  header: KernelHeader,
  layout: HeaderLayout,
  warnings: DumpWarning[],
): void {
  const base = header.directoryTableBase;
  if (base !== null && (base & PAGE_TABLE_MASK[layout.bits]) === 0n) {
    warnings.push({
      reason: "bad_dtb",
      message: `DirectoryTableBase ${
        hexPointer(base, layout.bits)
      } is no page table, so addresses cannot be resolved`,
      offset: layout.fields.directory_table_base.offset,
    });
  }
  if (header.machineImageType === 0 || header.numberProcessors === 0) {
    warnings.push({
      reason: "bad_machine",
      message:
        `The header names machine ${header.machineImageType} with ${header.numberProcessors} processors; ` +
        "debuggers refuse such a dump",
      offset: layout.fields.machine_image_type.offset,
    });
  }
  if (header.systemTime !== null && header.systemTime !== 0n && filetimeToIso(header.systemTime) === null) {
    warnings.push({
      reason: "bad_time",
      message: `SystemTime ${hex64(header.systemTime)} is no date`,
      offset: layout.fields.system_time.offset,
    });
  }
  if (isEncrypted(header)) {
    warnings.push({
      reason: "encrypted",
      message: "The pages are encrypted: only the header can be read without the key",
      offset: layout.fields.attributes.offset,
    });
  }
}

/**
 * The size on disk of a file with holes. Copying programs turn pages of zeros into holes, which is harmless; a
 * page file that is mostly holes was more likely never written, which is a warning.
 */
export function holeFields(
  { form }: KernelBody,
  options: InspectOptions,
  size: number,
  warnings: DumpWarning[],
): Partial<DumpInspection> {
  const allocated = options.allocatedBytes ?? null;
  if (allocated === null || allocated >= size) return {};
  if (form !== "triage" && form !== "none" && allocated < size / 2) {
    warnings.push({
      reason: "sparse_zero_pages",
      message:
        `The file takes ${allocated} of its ${size} bytes on disk: the holes between read as pages of zeros`,
      expected: size,
      actual: allocated,
    });
  }
  return { allocated_size_bytes: allocated };
}
