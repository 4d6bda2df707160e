/** Opens a Linux core of whatever container. */

import type { ByteSource } from "../../bytes.ts";
import type { DumpFormat } from "../../sniff.ts";
import type { LinuxCore } from "./core.ts";
import { openElfCore } from "./elf_core.ts";
import { openKdumpCore } from "./kdump_core.ts";
import type { HostCodecs } from "./page_codecs.ts";

/** The forms that {@link openLinuxCore} takes. */
export type LinuxFormat = Extract<DumpFormat, "elf_core" | "kdump" | "kdump_flattened">;

/** Whether a form is that of a Linux core. */
export function isLinuxFormat(format: DumpFormat): format is LinuxFormat {
  return format === "elf_core" || format === "kdump" || format === "kdump_flattened";
}

/** Opens the core; its pages are read when they are asked for. Fails as the openers of the containers do. */
export function openLinuxCore(source: ByteSource, format: LinuxFormat, codecs: HostCodecs): LinuxCore {
  return format === "elf_core"
    ? openElfCore(source)
    : openKdumpCore(source, format === "kdump_flattened", codecs);
}
