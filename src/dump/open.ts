/** Opens a dump for those who want to know why a machine or a process stopped. */

import { ByteReader, type ByteSource } from "./bytes.ts";
import { openMinidump } from "./minidump/session.ts";
import { badDump } from "./reasons.ts";
import type { DumpSession } from "./session.ts";
import { type DumpFormat, sniffDump } from "./sniff.ts";
import { HEADER32, HEADER64 } from "./windows/header_layout.ts";
import type { DecodingVariables } from "./windows/kernel/debugger_data.ts";
import { openKernelDump } from "./windows/kernel/open.ts";

/** What the caller knows beside the file. */
export interface OpenOptions {
  /** Addresses that the kernel's symbols tell, for a scrambled debugger data block. */
  readonly decoding?: DecodingVariables;
}

/** Forms that are recognised and not opened, as messages name them. */
const NOT_OPENED: Readonly<Partial<Record<DumpFormat, string>>> = {
  legacy_user: "a user dump of the form before minidumps",
  firmware_raw: "a dump that the firmware wrote",
  firmware_encrypted: "an encrypted dump that the firmware wrote",
  elf_core: "an ELF core",
  kdump: "a kdump of Linux",
  kdump_flattened: "a kdump of Linux in its flattened form",
};

/**
 * Opens a Windows kernel dump of any kind or a user-mode minidump. Reads little: headers, and the bitmap of a bitmap
 * dump once. Everything else is read when the session is asked for it, so the source must stay open.
 *
 * Fails with `hv.bad_dump` and `context.reason` as `sniffDump` does, and with `too_short`, `encrypted`,
 * `unsupported_kind`, `stream_missing`, `stream_count`, `stream_directory`. A session that was opened does not fail
 * for what the file holds: damage is a warning, a missing part is null, a missing page is an answer.
 */
export function openDump(source: ByteSource, options: OpenOptions = {}): DumpSession {
  const format = sniffDump(new ByteReader(source));
  if (format === "kernel64") return openKernelDump(source, HEADER64, options.decoding ?? null);
  if (format === "kernel32") return openKernelDump(source, HEADER32, options.decoding ?? null);
  if (format === "minidump") return openMinidump(source);
  throw badDump(
    "unsupported_kind",
    `Cannot open the dump: it is ${NOT_OPENED[format] ?? format}, not a Windows crash dump or a minidump`,
    { found: format },
    "Run `hvlab dump inspect` for what its header tells",
  );
}
