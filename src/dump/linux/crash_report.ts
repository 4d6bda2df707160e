/** What the log in an ELF core says of its crash, for an inspection. */

import { HvError } from "../../base/errors.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { ByteSource } from "../bytes.ts";
import { parseConsole } from "./console/parse.ts";
import { openElfCore } from "./containers/elf_core.ts";
import { readKernelLog } from "./kernel/kernel_log.ts";
import { openKernelMemory } from "./kernel/open_memory.ts";
import { dmesgLines } from "./kernel/log_record.ts";
import { findVmcoreinfo } from "./kernel/vmcoreinfo.ts";
import { RationedSource } from "./rationed_source.ts";

/** What an inspection reads of a core to tell the panic: a log of usual size, with its descriptors, takes under 1 MiB. */
export const CRASH_REPORT_BYTES = 4 * 1024 * 1024;

/** Message of the panic and first line of the report that counts; null for what is not there or cannot be read. */
export function readCrashReport(source: ByteSource): { panic: string | null; report: string | null } {
  try {
    const core = openElfCore(new RationedSource(source, CRASH_REPORT_BYTES));
    const info = findVmcoreinfo(core);
    const { records } = readKernelLog(openKernelMemory(core, info), info);
    const { panic, main } = parseConsole(records.flatMap(dmesgLines));
    return {
      panic: panic === null ? null : visibleText(panic),
      report: main === null ? null : visibleText(main.report.headline),
    };
  } catch (thrown) {
    // A header that leads nowhere is what a triage reports; an inspection still tells the header.
    if (thrown instanceof HvError && thrown.code === "hv.bad_dump") return { panic: null, report: null };
    throw thrown;
  }
}
