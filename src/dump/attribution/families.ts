/** Families of stop codes that say how far a stack tells who is to blame. From the public bug check pages. */

import { plainCode } from "./argument_addresses.ts";

/** What a family says of the stack. */
export type StopFamily =
  /** Something found memory that somebody else had spoilt before: the finder stands on the stack, not the culprit. */
  | "corruption"
  /** Driver Verifier or a special pool stopped a driver in the act: it stands on the stack. */
  | "verifier";

const FAMILIES: ReadonlyMap<number, StopFamily> = new Map<number, StopFamily>([
  ...[0x19, 0x1A, 0x4E, 0xC5, 0xDE, 0x109, 0x13A, 0x1C7].map((code) => [code, "corruption"] as const),
  ...[0xC1, 0xC4, 0xC9, 0xD5, 0xD6, 0xE6, 0xF1, 0xF6].map((code) => [code, "verifier"] as const),
]);

/** The family of a stop code; null for most. */
export function familyOf(code: number): StopFamily | null {
  return FAMILIES.get(plainCode(code)) ?? null;
}
