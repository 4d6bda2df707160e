/** A key of a Windows guest's registry, with typed values. */

import * as z from "zod/mini";
import { ASKED_THROUGH } from "./guest_info.ts";

export const REGISTRY_TYPES = [
  "REG_SZ",
  "REG_EXPAND_SZ",
  "REG_DWORD",
  "REG_QWORD",
  "REG_MULTI_SZ",
  "REG_BINARY",
  "REG_NONE",
  "REG_OTHER",
] as const;

/**
 * One value. Texts are as they are stored: variables of REG_EXPAND_SZ are not expanded. REG_DWORD is a number, REG_QWORD
 * one too or `0x` text when it is too large, REG_MULTI_SZ a list; all others are base64.
 */
export const RegistryValue = z.object({
  /** Empty for the key's default value. */
  name: z.string(),
  type: z.enum(REGISTRY_TYPES),
  value: z.union([z.string(), z.number(), z.array(z.string())]),
  /** Bytes of the value that are not here. */
  dropped_bytes: z.optional(z.int()),
});
export type RegistryValue = z.infer<typeof RegistryValue>;

/** A key. `truncated` says that it has more keys or values than are listed. */
export const RegistryKey = z.object({
  path: z.string(),
  keys: z.array(z.string()),
  values: z.array(RegistryValue),
  truncated: z.optional(z.boolean()),
  ...ASKED_THROUGH,
});
export type RegistryKey = z.infer<typeof RegistryKey>;
