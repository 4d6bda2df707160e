/** Compares the size that a file claims with the size that it has. */

import { jsonCount } from "./numbers.ts";
import type { DumpWarning } from "./reasons.ts";

/** The last two size fields of every inspection. */
export interface SizeFields {
  expected_size_bytes: number | string | null;
  actual_size_bytes: number;
}

/**
 * The size fields. Warns `truncated` when the file is shorter than it claims; a longer one is normal, since
 * other data and padding may follow.
 */
export function compareSizes(expected: bigint | null, actual: number, warnings: DumpWarning[]): SizeFields {
  if (expected !== null && BigInt(actual) < expected) {
    warnings.push({
      reason: "truncated",
      message: `The file has ${actual} bytes, a complete one has ${expected}`,
      expected: jsonCount(expected),
      actual,
    });
  }
  return { expected_size_bytes: expected === null ? null : jsonCount(expected), actual_size_bytes: actual };
}
