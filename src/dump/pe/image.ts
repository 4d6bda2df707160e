/** The bytes of an image by address from its base, wherever they come from. */

import type { ByteSource } from "../bytes.ts";
import type { VirtualMemory } from "../memory/virtual.ts";

/** Something that can be asked for bytes of an image. RVA: address from the image's base. */
export interface ImageBytes {
  /** Exactly `length` bytes, or undefined when any of them is not there. */
  read(rva: number, length: number): Uint8Array | undefined;
}

/** An image where a dump has it in memory. */
export class MemoryImage implements ImageBytes {
  readonly #memory: VirtualMemory;
  readonly #base: bigint;

  constructor(memory: VirtualMemory, base: bigint) {
    this.#memory = memory;
    this.#base = base;
  }

  read(rva: number, length: number): Uint8Array | undefined {
    return this.#memory.read(this.#base + BigInt(rva), length);
  }
}

/** A stretch of an image file: where it is mapped and where it lies. */
export interface FileStretch {
  readonly rva: number;
  readonly offset: number;
  readonly size: number;
}

/** An image as a file: bytes come from the section that an address is in. */
export class FileImage implements ImageBytes {
  readonly #source: ByteSource;
  readonly #stretches: readonly FileStretch[];

  constructor(source: ByteSource, stretches: readonly FileStretch[]) {
    this.#source = source;
    this.#stretches = stretches;
  }

  read(rva: number, length: number): Uint8Array | undefined {
    const stretch = this.#stretches.find((each) => rva >= each.rva && rva - each.rva < each.size);
    if (stretch === undefined || length > stretch.size - (rva - stretch.rva)) return undefined;
    const bytes = this.#source.read(stretch.offset + rva - stretch.rva, length);
    return bytes.length === length ? bytes : undefined;
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
