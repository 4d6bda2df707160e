/** Unpackers of the runtime for pages of kernel dumps. */

/** What the runtime can unpack; each throws `Error` for damaged data and for more than `limit` bytes. */
export interface RuntimeCodecs {
  /** Deflate without a header. */
  readonly inflate: (packed: Uint8Array, limit: number) => Uint8Array;
  readonly zstd: (packed: Uint8Array, limit: number) => Uint8Array;
}

/** Loads the module behind them, which few commands need. */
export async function openPageCodecs(): Promise<RuntimeCodecs> {
  const { inflateRawSync, zstdDecompressSync } = await import("node:zlib");
  return {
    inflate: (packed, limit) => inflateRawSync(packed, { maxOutputLength: limit }),
    zstd: (packed, limit) => zstdDecompressSync(packed, { maxOutputLength: limit }),
  };
}
