/** The images that a stack leads through, each put together from all that is known of it. */

import type { LoadedModule } from "../../dump/modules.ts";
import { readPeHeaders } from "../../dump/pe/headers.ts";
import { type ImageBytes, LayeredImage, MemoryImage } from "../../dump/pe/image.ts";
import type { DumpSession } from "../../dump/session.ts";
import type { UnwindImage } from "../../dump/unwind/frame.ts";
import type { ContextMachine } from "../../dump/windows/context.ts";
import type { SymbolFiles } from "../symbols/symbol_files.ts";

/** The largest table of functions that is believed. */
const LARGEST_TABLE = 64 * 1024 * 1024;

/** What an image's header says of the processor. */
const MACHINES: Readonly<Record<ContextMachine, number>> = { x64: 0x8664, x86: 0x14C, arm64: 0xAA64 };

/** Entries of functions that were found apart from their tables, by image base and then by begin. */
export type CapturedEntries = ReadonlyMap<bigint, ReadonlyMap<number, Uint8Array>>;

/**
 * Images of one dump by module; each is put together once: from the dump's memory, from the image's file, and from
 * the unwind data that symbol files of Windows carry.
 */
export class ImageSet {
  readonly #session: DumpSession;
  readonly #files: SymbolFiles;
  readonly #captured: CapturedEntries;
  readonly #images = new Map<bigint, Promise<UnwindImage>>();

  constructor(session: DumpSession, files: SymbolFiles, captured: CapturedEntries) {
    this.#session = session;
    this.#files = files;
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

  async #make(module: LoadedModule): Promise<UnwindImage> {
    const memory = new MemoryImage(this.#session.memory, module.base);
    const layers: ImageBytes[] = [memory];
    const mapped = readPeHeaders(memory);
    const file = await this.#files.image(module);
    if (file !== null) layers.push(file.image);
    const headers = mapped ?? file?.headers ?? null;
    const noted = module.exceptionTable;
    const inside = noted !== null && noted.address > module.base && noted.size <= LARGEST_TABLE;
    let functions: UnwindImage["functions"] = inside
      ? { rva: Number(noted.address - module.base), size: noted.size }
      : headers === null
      ? null
      : headers.exceptions ?? "none";
    const readable = functions === "none" || (functions !== null && isThere(layers, functions));
    if (!readable) {
      const carried = (await this.#files.symbols(module))?.pdb.unwindData ?? null;
      if (carried !== null) {
        layers.push(carried.bytes);
        functions = carried.functions;
      }
    }
    return {
      base: module.base,
      size: module.size,
      foreign: headers !== null && headers.machine !== MACHINES[this.#session.machine],
      bytes: new LayeredImage(layers),
      functions,
      spare: this.#captured.get(module.base) ?? new Map<number, Uint8Array>(),
    };
  }
}

/** Whether both ends of a table can be read. */
function isThere(layers: readonly ImageBytes[], { rva, size }: { rva: number; size: number }): boolean {
  const image = new LayeredImage(layers);
  return image.read(rva, 4) !== undefined && image.read(rva + Math.max(0, size - 4), 4) !== undefined;
}
