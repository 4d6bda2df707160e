/** A folder of its own for one test. */

/** Runs a test with a new folder, whose path has a space, a quote and a letter beyond ASCII, and removes it. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const parent = await Deno.makeTempDir({ prefix: "hvlab test é'" });
  try {
    return await work(await Deno.realPath(parent));
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}
