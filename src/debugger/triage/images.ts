/** The images that a stack leads through, each put together from all that is known of it. */

import { type ImageBytes, LayeredImage, MemoryImage } from "../../dump/pe/image.ts";
import { readPeHeaders } from "../../dump/pe/headers.ts";
import type { LoadedModule } from "../../dump/modules.ts";
import type { DumpSession } from "../../dump/session.ts";
import type { UnwindImage } from "../../dump/unwind/frame.ts";

/** The largest table of functions that is believed. */
const LARGEST_TABLE = 64 * 1024 * 1024;

/** Images of one dump by module; each is put together once. */
export class ImageSet {
  readonly #session: DumpSession;
  readonly #captured: ReadonlyMap<bigint, ReadonlyMap<number, Uint8Array>>;
  readonly #images = new Map<bigint, Promise<UnwindImage>>();

  constructor(
    session: DumpSession,
    captured: ReadonlyMap<bigint, ReadonlyMap<number, Uint8Array>> = new Map(),
  ) {
    this.#session = session;
    this.#captured = captured;
  }

  /** The image that an address lies in; null when it is in none. */
  async imageAt(address: bigint): Promise<UnwindImage | null> {
    const module = this.#session.modules.at(address);
    return module === null ? null : await this.imageOf(module);
  }

  /** The image of a module. */
  imageOf(module: LoadedModule): Promise<UnwindImage> {
    const known = this.#images.get(module.base);
    if (known !== undefined) return known;
    const made = this.#make(module);
    this.#images.set(module.base, made);
    return made;
  }

  /** `pdb`, `image` or `none`: what names the addresses of a module. */
  symbolState(_module: LoadedModule): Promise<string> {
    return Promise.resolve("none");
  }

  async #make(module: LoadedModule): Promise<UnwindImage> {
    const memory = new MemoryImage(this.#session.memory, module.base);
    const layers: ImageBytes[] = [memory];
    const headers = await Promise.resolve(readPeHeaders(memory));
    const bytes = layers.length === 1 ? memory : new LayeredImage(layers);
    const noted = module.exceptionTable;
    const inside = noted !== null && noted.address > module.base && noted.size <= LARGEST_TABLE;
    const functions = inside
      ? { rva: Number(noted.address - module.base), size: noted.size }
      : headers === null
      ? null
      : headers.exceptions ?? "none";
    return {
      base: module.base,
      size: module.size,
      bytes,
      functions,
      spare: this.#captured.get(module.base) ?? new Map<number, Uint8Array>(),
    };
  }
}
