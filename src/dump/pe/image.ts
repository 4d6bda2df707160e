/** The bytes of an image by address from its base, wherever they come from. */

import type { ByteSource } from "../bytes.ts";
import type { VirtualMemory } from "../memory/virtual.ts";

/** Something that can be asked for bytes of an image. RVA: address from the image's base. */
export interface ImageBytes {
  /** Exactly `length` bytes, or undefined when any of them is not there. */
  read(rva: number, length: number): Uint8Array | undefined;
}

/** An image whose pieces may be there in part. */
export interface PartialImage extends ImageBytes {
  /** As many of `length` bytes as there are from `rva` on; none when the first is missing. */
  readUpTo(rva: number, length: number): Uint8Array;
}

/** An image where a dump has it in memory. */
export class MemoryImage implements PartialImage {
  readonly #memory: VirtualMemory;
  readonly #base: bigint;

  constructor(memory: VirtualMemory, base: bigint) {
    this.#memory = memory;
    this.#base = base;
  }

  read(rva: number, length: number): Uint8Array | undefined {
    return this.#memory.read(this.#base + BigInt(rva), length);
  }

  readUpTo(rva: number, length: number): Uint8Array {
    return this.#memory.readUpTo(this.#base + BigInt(rva), length).bytes;
  }
}

/** A stretch of an image file: where it is mapped and where it lies. */
export interface FileStretch {
  readonly rva: number;
  readonly offset: number;
  readonly size: number;
}

const NOTHING = new Uint8Array(0);

/** An image as a file: bytes come from the section that an address is in. */
export class FileImage implements PartialImage {
  readonly #source: ByteSource;
  readonly #stretches: readonly FileStretch[];

  constructor(source: ByteSource, stretches: readonly FileStretch[]) {
    this.#source = source;
    this.#stretches = stretches;
  }

  read(rva: number, length: number): Uint8Array | undefined {
    const bytes = this.readUpTo(rva, length);
    return bytes.length === length ? bytes : undefined;
  }

  /** What the section has there and the file really holds. */
  readUpTo(rva: number, length: number): Uint8Array {
    const stretch = this.#stretches.find((each) => rva >= each.rva && rva - each.rva < each.size);
    if (stretch === undefined) return NOTHING;
    const inside = rva - stretch.rva;
    const offset = stretch.offset + inside;
    const there = Math.min(length, stretch.size - inside, this.#source.size - offset);
    return there <= 0 ? NOTHING : this.#source.read(offset, there);
  }
}

/** Several sources of one image as one: the first that has all bytes of a read answers. */
export class LayeredImage implements ImageBytes {
  readonly #layers: readonly ImageBytes[];

  constructor(layers: readonly ImageBytes[]) {
    this.#layers = layers;
  }

  read(rva: number, length: number): Uint8Array | undefined {
    for (const layer of this.#layers) {
      const bytes = layer.read(rva, length);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }
}

/** A view for reading numbers of a piece of an image. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
