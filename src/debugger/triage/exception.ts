/** Puts an exception into words. */

import type { DumpTriage } from "../../contract/dump_triage.ts";
import { describeArguments, findBugcheck } from "../../dump/bugchecks/catalogue.ts";
import { exceptionName } from "../../dump/exception_names.ts";
import { hex32, hexPointer } from "../../dump/numbers.ts";
import type { DumpException } from "../../dump/session.ts";

const ACCESS_VIOLATION = 0xC000_0005;
const IN_PAGE_ERROR = 0xC000_0006;
const ACCESSES: ReadonlyMap<bigint, string> = new Map([[0n, "read"], [1n, "write"], [8n, "execute"]]);

/** The bug check whose first argument is the same kind of code that a program's fast failure has. */
const SECURITY_CHECK_FAILURE = 0x139;
const FAST_FAIL = 0xC000_0409;

/** The exception of an answer. `signalName` is what it is called in a minidump: on other systems codes are signals. */
export async function describeException(
  { code, address, parameters, origin, synthetic }: DumpException,
  bits: 32 | 64,
  mode: "kernel" | "user",
  signalName: string | null,
): Promise<NonNullable<DumpTriage["exception"]>> {
  const [kind, target] = parameters;
  const access = (code === ACCESS_VIOLATION || code === IN_PAGE_ERROR) && kind !== undefined
    ? ACCESSES.get(kind)
    : undefined;
  const detail = code === FAST_FAIL && kind !== undefined ? await fastFailText(kind) : null;
  return {
    code: hex32(code),
    name: mode === "user" ? signalName : exceptionName(code),
    address: hexPointer(address, bits),
    ...(access === undefined || target === undefined
      ? {}
      : { access, access_address: hexPointer(target, bits) }),
    ...(detail === null ? {} : { detail }),
    parameters: parameters.map((value) => hexPointer(value, bits)),
    origin,
    ...(synthetic && mode === "kernel" ? { synthetic } : {}),
  };
}

/** What a fast failure's code means, from the catalogue. */
async function fastFailText(kind: bigint): Promise<string | null> {
  const bugcheck = await findBugcheck(SECURITY_CHECK_FAILURE);
  return describeArguments(bugcheck, [kind, null, null, null])[0] ?? null;
}
