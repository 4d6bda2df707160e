/** A folder of its own for one test. */

/** Runs a test with a new folder, whose path has a space, a quote and a letter beyond ASCII, and removes it. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const parent = await Deno.makeTempDir({ prefix: "hvlab test é'" });
  try {
    return await work(await Deno.realPath(parent));
  } finally {
    await removeFolder(parent);
  }
}

const TRIES = 50;
const BETWEEN_TRIES_MS = 100;

/** Windows keeps a file for a moment after the end of a process that had it open. */
async function removeFolder(folder: string): Promise<void> {
  for (let left = Deno.build.os === "windows" ? TRIES : 1;; left--) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (left <= 1) throw error;
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
  }
}
