/** The files that belong to the images of a dump, found in stores and checked. */

import type { MissingSymbol } from "../../contract/dump_triage.ts";
import type { CodeView, LoadedModule } from "../../dump/modules.ts";
import { PdbFile } from "../../dump/pdb/pdb.ts";
import { readCodeView } from "../../dump/pe/code_view.ts";
import { openImageFile, type PeHeaders } from "../../dump/pe/headers.ts";
import type { FileImage } from "../../dump/pe/image.ts";
import type { DumpSession } from "../../dump/session.ts";
import { imageKey, missingFile, symbolKey } from "./keys.ts";
import type { SymbolStores } from "./stores.ts";

/** An image file of a store. */
export interface StoreImage {
  readonly headers: PeHeaders;
  readonly image: FileImage;
  readonly path: string;
}

/** A symbol file of a store. */
export interface StoreSymbols {
  readonly pdb: PdbFile;
  readonly path: string;
}

/** Looks files up once per module. Without stores nothing is found, and what would be looked for can still be told. */
export class SymbolFiles {
  readonly #session: DumpSession;
  readonly #stores: SymbolStores | null;
  readonly #images = new Map<bigint, Promise<StoreImage | null>>();
  readonly #symbols = new Map<bigint, Promise<StoreSymbols | null>>();

  constructor(session: DumpSession, stores: SymbolStores | null) {
    this.#session = session;
    this.#stores = stores;
  }

  /** The image's file; its time stamp and size are those that the dump recorded. */
  image(module: LoadedModule): Promise<StoreImage | null> {
    return remember(this.#images, module, () => this.#findImage(module));
  }

  /** The image's symbol file; its GUID and age are those that the image names. */
  symbols(module: LoadedModule): Promise<StoreSymbols | null> {
    return remember(this.#symbols, module, () => this.#findSymbols(module));
  }

  /** The identity of a module's symbol file: from the dump, else from the image's file. */
  async codeView(module: LoadedModule): Promise<CodeView | null> {
    const recorded = this.#session.codeViewOf(module);
    if (recorded !== null) return recorded;
    const file = await this.image(module);
    return file === null ? null : readCodeView(file.image, file.headers);
  }

  /**
   * What a store would have to hold for a module; empty when all is there. `unwinding`: its image is needed as well.
   */
  async missing(module: LoadedModule, unwinding: boolean): Promise<MissingSymbol[]> {
    const list: MissingSymbol[] = [];
    const symbols = symbolKey(await this.codeView(module));
    if (symbols !== null && await this.symbols(module) === null) list.push(missingFile(symbols));
    const image = imageKey(module);
    if (image !== null && (unwinding || symbols === null) && await this.image(module) === null) {
      list.push(missingFile(image));
    }
    return list;
  }

  async #findImage(module: LoadedModule): Promise<StoreImage | null> {
    const wanted = imageKey(module);
    if (wanted === null || this.#stores === null) return null;
    const result = await this.#stores.find(wanted, (source) => {
      const opened = openImageFile(source);
      const fits = opened !== null && opened.headers.timeDateStamp === module.timeDateStamp &&
        opened.headers.sizeOfImage === module.size;
      return fits ? opened : null;
    });
    return result === null ? null : { ...result.found, path: result.path };
  }

  async #findSymbols(module: LoadedModule): Promise<StoreSymbols | null> {
    const codeView = this.#stores === null ? null : await this.codeView(module);
    const wanted = symbolKey(codeView);
    if (wanted === null || codeView === null || this.#stores === null) return null;
    const result = await this.#stores.find(wanted, (source) => {
      const pdb = new PdbFile(source);
      return pdb.id === codeView.id && pdb.age === codeView.age ? pdb : null;
    });
    return result === null ? null : { pdb: result.found, path: result.path };
  }
}

function remember<Found>(
  known: Map<bigint, Promise<Found>>,
  { base }: LoadedModule,
  find: () => Promise<Found>,
): Promise<Found> {
  const kept = known.get(base);
  if (kept !== undefined) return kept;
  const found = find();
  known.set(base, found);
  return found;
}
