/** Says why a Linux machine stopped, from its core. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import type { DumpFiles } from "../inspect_file.ts";
import { answerLinuxCore } from "./answer_core.ts";
import { openLinuxKernel } from "./open_kernel.ts";
import { symbolsAt } from "./symbol_file.ts";

/**
 * Reads the core as far as the answer needs; `symbols` is the path of a System.map or vmlinux, for a core whose own are
 * lost. Fails with `hv.not_found` when that is not there, and with `hv.bad_dump` when the way into its memory is not
 * there; everything else that is lost is a warning.
 */
export async function triageLinuxCore(
  files: DumpFiles,
  file: ByteSource,
  inspection: DumpInspection,
  { full, symbols }: { full: boolean; symbols?: string | undefined },
): Promise<DumpTriage> {
  const given = symbols === undefined ? null : await symbolsAt(files, symbols);
  return answerLinuxCore(await openLinuxKernel(file, given), inspection, full);
}
