/** Deflate as old containers use it: blocks without a header, each with what the blocks before it gave as dictionary. */

/** Inflates one block; throws `Error` when it is damaged or gives more than `limit` bytes. */
export type InflateBlock = (block: Uint8Array, dictionary: Uint8Array, limit: number) => Uint8Array;

/** Loads the module behind it, which few commands need. */
export async function openInflater(): Promise<InflateBlock> {
  const { inflateRawSync } = await import("node:zlib");
  return (block, dictionary, limit) =>
    inflateRawSync(block, { maxOutputLength: limit, ...(dictionary.length === 0 ? {} : { dictionary }) });
}
