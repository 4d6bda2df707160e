/** From PowerShell's error records to ours: by id, category and HRESULT, never by text, which is localised. */

import * as z from "zod/mini";
import { type ErrorCode, EXIT_CODE_OF, HvError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { OperationName } from "./operations.ts";

const FailureFacts = z.object({
  message: z.string(),
  id: z._default(z.string(), ""),
  category: z._default(z.string(), ""),
  target: z._default(z.string(), ""),
  types: z._default(z.array(z.string()), []),
  results: z._default(z.array(z.string()), []),
  place: z._default(z.string(), ""),
  /** What a change of several steps had done by then. */
  applied: z.optional(z.array(z.string())),
  /** Set when the operation itself says what is wrong. */
  ours: z.optional(z.object({
    code: z.string(),
    hint: z.optional(z.nullable(z.string())),
    facts: z.optional(z.nullable(z.record(z.string(), z.json()))),
  })),
});
type FailureFacts = z.infer<typeof FailureFacts>;

interface Meaning {
  code: ErrorCode;
  hint: string;
  reason?: string;
}

/** By the error id before the comma. */
const BY_ID: Readonly<Record<string, Meaning>> = {
  OutOfMemory: {
    code: "hv.unavailable",
    hint: "Stop another VM, or give this one less memory",
    reason: "no_memory",
  },
  ObjectNotFound: { code: "hv.not_found", hint: "List what is there and try again" },
  InvalidState: { code: "hv.conflict", hint: "Look at the VM's state with `hvlab vm get`" },
  ObjectInUse: { code: "hv.conflict", hint: "Let go of what uses it, then try again", reason: "in_use" },
  AccessDenied: {
    code: "hv.permission",
    hint: "Let the VM's own account read the file: attach it through hvlab, or grant it with icacls",
  },
  InvalidParameter: { code: "hv.usage", hint: "Hyper-V does not take this value" },
  NamedParameterNotFound: {
    code: "hv.unsupported",
    hint: "This host's Hyper-V module is too old for the operation",
  },
  CommandNotFoundException: {
    code: "hv.unavailable",
    hint: "Install the Hyper-V module for Windows PowerShell",
  },
  UnknownOperation: { code: "hv.internal", hint: "Report this with the context below" },
};

/** By an HRESULT in the message; Hyper-V prints them in every language. */
const BY_RESULT: Readonly<Record<string, Meaning>> = {
  "0x8007000E": {
    code: "hv.unavailable",
    hint: "Stop another VM, or give this one less memory",
    reason: "no_memory",
  },
  "0x800705AA": { code: "hv.unavailable", hint: "Stop another VM, then try again", reason: "no_resources" },
  "0x80070005": {
    code: "hv.permission",
    hint: "Let the VM's own account read the file",
    reason: "access_denied",
  },
  "0x80070020": { code: "hv.io", hint: "Let go of the file that is open elsewhere", reason: "file_in_use" },
  "0x80070002": { code: "hv.io", hint: "Put the missing file back", reason: "file_missing" },
  "0x80070003": { code: "hv.io", hint: "Put the missing folder back", reason: "folder_missing" },
  "0x80070050": { code: "hv.conflict", hint: "Choose another place", reason: "file_exists" },
  "0x80070070": { code: "hv.io", hint: "Free some space on the host's disk", reason: "disk_full" },
  "0xC0351000": {
    code: "hv.unavailable",
    hint: "Turn virtualisation on in the firmware and restart the computer",
    reason: "no_hypervisor",
  },
  "0xC03A000D": { code: "hv.bad_image", hint: "Put the parent disk back", reason: "parent_missing" },
  "0xC03A000E": { code: "hv.bad_image", hint: "The parent disk was changed", reason: "parent_mismatch" },
};

const BY_CATEGORY: Readonly<Record<string, Meaning>> = {
  PermissionDenied: { code: "hv.permission", hint: "Ask for rights with the group S-1-5-32-578" },
  ResourceBusy: { code: "hv.conflict", hint: "Let go of what uses it, then try again", reason: "in_use" },
  ObjectNotFound: { code: "hv.not_found", hint: "List what is there and try again" },
};

const OTHERWISE: Meaning = { code: "hv.job_failed", hint: "Read Hyper-V's own text in the context" };

/** Turns what an operation failed with into a coded error. `phase` is where it failed: `load`, `dispatch` or `run`. */
export function failureOf(operation: OperationName, phase: string, error: unknown): HvError {
  const parsed = FailureFacts.safeParse(error);
  if (!parsed.success) {
    return new HvError("hv.internal", `The operation "${operation}" failed in an unknown way`, {
      context: { operation, phase },
    });
  }
  const facts = parsed.data;
  if (phase === "load") {
    return new HvError("hv.unavailable", `The Hyper-V module cannot be loaded: ${firstLine(facts.message)}`, {
      hint: "Turn the Windows feature Hyper-V on, with its PowerShell module",
      context: { operation, ...detailsOf(facts) },
      retryable: false,
    });
  }
  if (facts.ours !== undefined) return ownFailure(operation, facts, facts.ours);
  const { code, hint, reason } = meaningOf(facts);
  return new HvError(
    code,
    `Hyper-V refused "${operation.replaceAll("_", " ")}": ${firstLine(facts.message)}`,
    {
      hint,
      context: { operation, ...(reason === undefined ? {} : { reason }), ...detailsOf(facts) },
    },
  );
}

function meaningOf({ id, category, message }: FailureFacts): Meaning {
  const [head = ""] = id.split(",");
  const plain = BY_ID[head];
  if (plain !== undefined) return plain;
  for (const [result] of message.matchAll(/0x[0-9A-Fa-f]{8}/g)) {
    const meaning = BY_RESULT[`0x${result.slice(2).toUpperCase()}`];
    if (meaning !== undefined) return meaning;
  }
  return BY_CATEGORY[category] ?? OTHERWISE;
}

function ownFailure(
  operation: OperationName,
  facts: FailureFacts,
  { code, hint, facts: context }: NonNullable<FailureFacts["ours"]>,
): HvError {
  return new HvError(isErrorCode(code) ? code : "hv.internal", firstLine(facts.message), {
    ...(hint ? { hint } : {}),
    context: { operation, ...context, ...(facts.applied === undefined ? {} : { applied: facts.applied }) },
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(EXIT_CODE_OF, code);
}

/** What a report needs; script positions stay out of what users read. */
function detailsOf({ message, id, category, types, applied }: FailureFacts): JsonObject {
  return {
    ...{ provider_id: id, provider_category: category, provider_message: message, provider_types: types },
    ...(applied === undefined ? {} : { applied }),
  };
}

function firstLine(message: string): string {
  return (message.split("\n", 1)[0] ?? "").trim().replace(/\.$/, "");
}
