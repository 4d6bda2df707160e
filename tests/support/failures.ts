/** Looking at failures. */

import { type ErrorCode, HvError } from "../../src/base/errors.ts";

/** The coded failure of some work; throws when it does not fail, or fails with another code. */
export async function failureOf(code: ErrorCode, work: () => unknown): Promise<HvError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HvError && error.code === code) return error;
    throw error;
  }
  throw new Error(`nothing was thrown, ${code} was expected`);
}
