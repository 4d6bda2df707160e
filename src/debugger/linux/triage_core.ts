/** Says why a Linux machine stopped, from its core. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import type { ByteSource } from "../../dump/bytes.ts";
import { answerLinuxCore } from "./answer_core.ts";
import { openLinuxKernel } from "./open_kernel.ts";

/**
 * Reads the core as far as the answer needs. Fails with `hv.bad_dump` when the way into its memory is not there;
 * everything else that is lost is a warning.
 */
export async function triageLinuxCore(
  file: ByteSource,
  inspection: DumpInspection,
  full: boolean,
): Promise<DumpTriage> {
  return answerLinuxCore(await openLinuxKernel(file), inspection, full);
}
