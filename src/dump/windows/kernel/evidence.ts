/** The exception and the contexts that a kernel dump is about, best first. */

import type { VirtualMemory } from "../../memory/virtual.ts";
import type { LoadedModule } from "../../modules.ts";
import type { BugCheck, DumpException, FoundContext } from "../../session.ts";
import { type ContextMachine, readContext, readTrapFrame, type RegisterContext } from "../context.ts";
import type { ExceptionRecord, KernelHeader } from "../header.ts";
import { argumentRoles } from "./argument_records.ts";
import { readExceptionRecordAt } from "./exception_record.ts";

const BREAKPOINT = 0x80000003;
/** Arguments 3 and 4 of this code are the first two parameters of the exception. */
const KMODE_EXCEPTION_NOT_HANDLED = 0x1E;

/**
 * The exception: the record that a bug check argument points to, else code and address in the arguments, else the
 * header's record. That one is only the breakpoint in the kernel (`synthetic`) unless it has the code of the
 * arguments: then it tells more than they do.
 */
export function findException(
  memory: VirtualMemory,
  header: KernelHeader,
  bugCheck: BugCheck | null,
  kernel: LoadedModule | null,
): DumpException | null {
  const rest = { synthetic: false, threadId: null };
  if (bugCheck !== null) {
    const roles = argumentRoles(bugCheck.code);
    const at = argument(bugCheck, roles.exceptionRecord);
    const record = at === null ? null : readExceptionRecordAt(memory, at);
    if (record !== null) return { ...record, ...rest, origin: "bugcheck_record" };
    const code = argument(bugCheck, roles.exceptionCode);
    const address = argument(bugCheck, (roles.exceptionCode ?? 0) + 1);
    const inHeader = code !== null && header.exception?.code === Number(BigInt.asUintN(32, code));
    if (code !== null && address !== null && !inHeader) {
      const parameters = bugCheck.code === KMODE_EXCEPTION_NOT_HANDLED ? bugCheck.parameters.slice(2) : [];
      return {
        code: Number(BigInt.asUintN(32, code)),
        flags: 0,
        address,
        parameters,
        ...rest,
        origin: "bugcheck_arguments",
      };
    }
  }
  if (header.exception === null) return null;
  return {
    ...header.exception,
    origin: "header",
    synthetic: isSynthetic(header.exception, kernel),
    threadId: null,
  };
}

/** Contexts from which a stack walk may start, best first; what cannot be read is left out. */
export function findContexts(
  memory: VirtualMemory,
  machine: ContextMachine,
  bugCheck: BugCheck | null,
  processor: RegisterContext | null,
  header: RegisterContext | null,
): FoundContext[] {
  const found: FoundContext[] = [];
  const add = (origin: FoundContext["origin"], registers: RegisterContext | null) => {
    if (registers !== null) found.push({ origin, registers });
  };
  const roles = bugCheck === null ? {} : argumentRoles(bugCheck.code);
  const context = bugCheck === null ? null : argument(bugCheck, roles.context);
  if (context !== null) add("bugcheck_context", readContext(memory, machine, context));
  const trapFrame = bugCheck === null ? null : argument(bugCheck, roles.trapFrame);
  if (trapFrame !== null) add("trap_frame", readTrapFrame(memory, machine, trapFrame));
  add("processor", processor);
  add("header", header);
  return found;
}

/** Argument `number` (1 to 4); null without a number and for 0, which points to nothing. */
function argument(bugCheck: BugCheck, number: number | undefined): bigint | null {
  const value = number === undefined ? undefined : bugCheck.parameters[number - 1];
  return value === undefined || value === 0n ? null : value;
}

function isSynthetic(record: ExceptionRecord, kernel: LoadedModule | null): boolean {
  return record.code === BREAKPOINT && kernel !== null && record.address >= kernel.base &&
    record.address < kernel.base + BigInt(kernel.size);
}
