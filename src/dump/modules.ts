/** Images of a machine or process: what is loaded, what was unloaded, and which one an address belongs to. */

import { refuseWindowsName } from "../base/windows_names.ts";

/** The identity that an image has in common with its symbol file. */
export interface CodeView {
  /** `RSDS` for PDB 7.0, `NB10` for older symbol files, `BpEL` for the build id of an ELF file. */
  readonly format: "RSDS" | "NB10" | "BpEL";
  /** RSDS: the GUID as 32 upper-case digits. NB10: the time stamp as 8. BpEL: the build id. */
  readonly id: string;
  /** 0 when the format has none. */
  readonly age: number;
  /** Path of the symbol file as the linker wrote it: hostile text, made safe to show. */
  readonly path: string;
  /** Last part of that path, safe as a file name; null when it is none. */
  readonly name: string | null;
}

/** A version as the image's resources tell it. */
export interface FileVersion {
  readonly file: string;
  readonly product: string;
}

/** An image that was loaded. Null: not told by this dump. */
export interface LoadedModule {
  /** Last part of the path: `evil.sys`. */
  readonly name: string;
  readonly path: string | null;
  readonly base: bigint;
  readonly size: number;
  /** The number that a symbol store files the image under; of modern Windows images it is no time. */
  readonly timeDateStamp: number | null;
  readonly checkSum: number | null;
  /** Address and size of the image's table of functions, where the loader noted them. */
  readonly exceptionTable: { readonly address: bigint; readonly size: number } | null;
  /** What the dump itself recorded; images in memory are asked by `codeViewOf` of the session. */
  readonly codeView: CodeView | null;
  readonly version: FileVersion | null;
}

/** An image that is gone. The end address is the first one behind it. */
export interface UnloadedModule {
  /** In kernel dumps cut to 12 characters where the dump keeps no more. */
  readonly name: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly timeDateStamp: number | null;
  readonly checkSum: number | null;
}

/** The loaded images in load order, with look-up by address. */
export class ModuleList {
  readonly all: readonly LoadedModule[];
  /** The list was cut: by a missing page, a loop, or the limit. */
  readonly truncated: boolean;
  readonly #sorted: readonly LoadedModule[];

  constructor(modules: readonly LoadedModule[], truncated: boolean = false) {
    this.all = modules;
    this.truncated = truncated;
    this.#sorted = [...modules].sort((a, b) => (a.base < b.base ? -1 : a.base > b.base ? 1 : 0));
  }

  /** The image that an address lies in. */
  at(address: bigint): LoadedModule | null {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const module = this.#sorted[middle];
      if (module !== undefined && module.base <= address) low = middle + 1;
      else high = middle;
    }
    const module = this.#sorted[low - 1];
    return module !== undefined && address < module.base + BigInt(module.size) ? module : null;
  }
}

/** Last part of a Windows or POSIX path. */
export function lastPathPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("\\"), path.lastIndexOf("/")) + 1);
}

/** The name of a symbol file taken from a path of a dump: null unless every system can have it as a name in a folder. */
export function safeFileName(path: string): string | null {
  const name = lastPathPart(path);
  return name === "" || name.includes("\x7F") || refuseWindowsName(name) !== undefined ? null : name;
}
