/** What kdump pages are packed with, and who unpacks it. */

import { unpackLzo } from "./lzo.ts";
import { unpackSnappy } from "./snappy.ts";

/** Unpackers that the host has; each throws `Error` for damaged data and for more than `limit` bytes. */
export interface HostCodecs {
  /** Deflate without a header. */
  readonly inflate: (packed: Uint8Array, limit: number) => Uint8Array;
  /** Null where the runtime has no zstd. */
  readonly zstd: ((packed: Uint8Array, limit: number) => Uint8Array) | null;
}

/** One way of packing: how messages call it, and its unpacker if there is one. */
export interface PageCodec {
  readonly name: string;
  readonly unpack: ((packed: Uint8Array, size: number) => Uint8Array | null) | null;
}

const ZLIB_HEADER_BYTES = 2;

/** Flags of a page descriptor and their codecs; a page without any of them is stored as it is. */
export function pageCodecs(host: HostCodecs): ReadonlyMap<number, PageCodec> {
  const { inflate, zstd } = host;
  return new Map([
    [0x01, {
      name: "zlib",
      unpack: guarded((packed, size) => inflate(packed.subarray(ZLIB_HEADER_BYTES), size)),
    }],
    [0x02, { name: "lzo", unpack: unpackLzo }],
    [0x04, { name: "snappy", unpack: unpackSnappy }],
    [0x20, { name: "zstd", unpack: zstd === null ? null : guarded(zstd) }],
  ]);
}

function guarded(unpack: (packed: Uint8Array, size: number) => Uint8Array): PageCodec["unpack"] {
  return (packed, size) => {
    try {
      return unpack(packed, size);
    } catch {
      return null;
    }
  };
}
