/** Puts an exception into words. */

import type { DumpTriage } from "../../contract/dump_triage.ts";
import { exceptionName } from "../../dump/exception_names.ts";
import { hex32, hexPointer } from "../../dump/numbers.ts";
import type { DumpException } from "../../dump/session.ts";

const ACCESS_VIOLATION = 0xC000_0005;
const IN_PAGE_ERROR = 0xC000_0006;
const ACCESSES: ReadonlyMap<bigint, string> = new Map([[0n, "read"], [1n, "write"], [8n, "execute"]]);

/** The exception of an answer. */
export function describeException(
  { code, address, parameters, origin, synthetic }: DumpException,
  bits: 32 | 64,
  mode: "kernel" | "user",
): NonNullable<DumpTriage["exception"]> {
  const [kind, target] = parameters;
  const access = (code === ACCESS_VIOLATION || code === IN_PAGE_ERROR) && kind !== undefined
    ? ACCESSES.get(kind)
    : undefined;
  return {
    code: hex32(code),
    name: exceptionName(code),
    address: hexPointer(address, bits),
    ...(access === undefined || target === undefined
      ? {}
      : { access, access_address: hexPointer(target, bits) }),
    parameters: parameters.map((value) => hexPointer(value, bits)),
    origin,
    ...(synthetic && mode === "kernel" ? { synthetic } : {}),
  };
}
