/** A key of a Windows guest's registry. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import type { REGISTRY_TYPES, RegistryKey, RegistryValue } from "../../contract/guest_registry.ts";
import type { ProgramRunner } from "../channel.ts";
import script from "./collectors/registry.ps1" with { type: "text" };
import { askPowerShell } from "./script.ts";

/** Which key, and how much of it. */
export interface RegistryWish {
  path: string;
  /** Only the value of this name; the letters' case does not count. */
  name: string | undefined;
  /** Keys and values at most. */
  limit: number;
}

/** The five roots by the names that people write. */
const ROOTS: Readonly<Record<string, string>> = {
  HKLM: "HKEY_LOCAL_MACHINE",
  HKCU: "HKEY_CURRENT_USER",
  HKCR: "HKEY_CLASSES_ROOT",
  HKU: "HKEY_USERS",
  HKCC: "HKEY_CURRENT_CONFIG",
};
/** Bytes of one value that are told. */
const VALUE_BYTES = 16 * 1024;

/** The names of .NET's kinds. */
const TYPES: Readonly<Record<string, typeof REGISTRY_TYPES[number]>> = {
  String: "REG_SZ",
  ExpandString: "REG_EXPAND_SZ",
  DWord: "REG_DWORD",
  QWord: "REG_QWORD",
  MultiString: "REG_MULTI_SZ",
  Binary: "REG_BINARY",
  None: "REG_NONE",
};

const Answer = z.object({
  failure: z.optional(z.string()),
  message: z.optional(z.string()),
  path: z._default(z.string(), ""),
  keys: z._default(z.array(z.string()), []),
  values: z._default(
    z.array(z.object({
      name: z.string(),
      kind: z.string(),
      text: z.optional(z.string()),
      list: z.optional(z.array(z.string())),
      base64: z.optional(z.string()),
      dropped: z.optional(z.int()),
    })),
    [],
  ),
  more: z._default(z.boolean(), false),
  value_missing: z._default(z.boolean(), false),
});
type Answer = z.infer<typeof Answer>;

/** Reads a key. Throws `hv.not_found` for one that is not there, `hv.guest_denied`, and `hv.usage` for a path without a root. */
export async function readRegistry(
  channel: ProgramRunner,
  { path, name, limit }: RegistryWish,
  signal: AbortSignal,
): Promise<Omit<RegistryKey, "channel" | "channels_not_used">> {
  const wish = { path: fullPath(path), name: name ?? "", limit, bytes: VALUE_BYTES };
  const answer = Answer.parse(await askPowerShell(channel, script, wish, "registry", signal));
  refuse(answer, path, name);
  return {
    path: answer.path,
    keys: answer.keys,
    values: answer.values.map(readValue),
    ...(answer.more ? { truncated: true } : {}),
  };
}

/** The path with its root's full name. `HKLM\x`, `HKLM:\x` and `HKEY_LOCAL_MACHINE\x` are one. */
export function fullPath(path: string): string {
  const [root = "", ...rest] = path.split("\\");
  const short = root.toUpperCase().replace(/:$/, "");
  const full = ROOTS[short] ?? Object.values(ROOTS).find((known) => known === short);
  if (full !== undefined) return [full, ...rest.filter((part) => part !== "")].join("\\");
  throw new HvError("hv.usage", `The registry path "${path}" has no root`, {
    hint: `Begin it with one of ${Object.keys(ROOTS).join(", ")}, as in HKLM\\SOFTWARE`,
    context: { path, found: root },
  });
}

function refuse(
  { failure, message = "", value_missing: hasNoValue }: Answer,
  path: string,
  name?: string,
): void {
  if (failure === "denied") {
    throw new HvError("hv.guest_denied", `The guest does not let us read "${path}": ${message}`, {
      hint: "Log in as an account that may",
      context: { path },
    });
  }
  if (failure !== undefined) {
    throw new HvError("hv.not_found", `There is no registry key "${path}" in the guest`, {
      hint: "Look at the key above it",
      context: { path, reason: message },
    });
  }
  if (hasNoValue) {
    throw new HvError("hv.not_found", `The registry key "${path}" has no value "${name}"`, {
      hint: "Leave --name out to see those that it has",
      context: { path, name: name ?? "" },
    });
  }
}

function readValue({ name, kind, text, list, base64, dropped = 0 }: Answer["values"][number]): RegistryValue {
  const type = TYPES[kind] ?? "REG_OTHER";
  const isNumber = type === "REG_DWORD" || type === "REG_QWORD";
  return {
    name,
    type,
    value: list ?? (isNumber ? numberOf(text ?? "0") : text ?? base64 ?? ""),
    ...(dropped > 0 ? { dropped_bytes: dropped } : {}),
  };
}

/** JSON has no whole numbers beyond 2^53. */
function numberOf(text: string): number | string {
  const value = BigInt(text);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : `0x${value.toString(16)}`;
}
