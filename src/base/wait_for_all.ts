/** Several pieces of work at once, none of which outlives the wait. */

/**
 * Waits for all work and gives its results, as `Promise.all` does; a failure is thrown only when the rest has ended
 * as well, so that nothing goes on behind the back of whoever cleans up.
 */
export async function waitForAll<const T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
