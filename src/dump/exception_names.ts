/** Names of Windows exception codes: status codes, and those that only programs raise. */

import { nameStatus } from "./bugchecks/status_names.ts";

/** Codes that no kernel raises, so that the catalogue of bug checks has no use for them. */
const PROGRAM_EXCEPTIONS: ReadonlyMap<number, string> = new Map([
  [0x40000015, "STATUS_FATAL_APP_EXIT"],
  [0x40010006, "DBG_PRINTEXCEPTION_C"],
  [0x4001000A, "DBG_PRINTEXCEPTION_WIDE_C"],
  [0x4000001E, "STATUS_WX86_SINGLE_STEP"],
  [0x4000001F, "STATUS_WX86_BREAKPOINT"],
  [0xC000008D, "STATUS_FLOAT_DENORMAL_OPERAND"],
  [0xC000008F, "STATUS_FLOAT_INEXACT_RESULT"],
  [0xC0000091, "STATUS_FLOAT_OVERFLOW"],
  [0xC0000092, "STATUS_FLOAT_STACK_CHECK"],
  [0xC0000093, "STATUS_FLOAT_UNDERFLOW"],
  [0xC0000139, "STATUS_ENTRYPOINT_NOT_FOUND"],
  [0xC000013A, "STATUS_CONTROL_C_EXIT"],
  [0xC0000194, "STATUS_POSSIBLE_DEADLOCK"],
  [0xC0000417, "STATUS_INVALID_CRUNTIME_PARAMETER"],
  [0xE0434352, "CLR_EXCEPTION"],
  [0xE06D7363, "CPP_EXCEPTION"],
]);

/** Name of an exception code, an unsigned 32-bit number, or null. */
export function exceptionName(code: number): string | null {
  return nameStatus(code)?.name ?? PROGRAM_EXCEPTIONS.get(code) ?? null;
}
