/** The names under which symbol stores file images and their symbol files. */

import type { MissingSymbol } from "../../contract/dump_triage.ts";
import { type CodeView, type LoadedModule, safeFileName } from "../../dump/modules.ts";

/** A file of a store: its name and the key of one version of it. */
export interface StoreKey {
  readonly name: string;
  readonly key: string;
}

/** The key of a symbol file: GUID and age. Null when the record names none. */
export function symbolKey(codeView: CodeView | null): StoreKey | null {
  if (codeView === null || codeView.format !== "RSDS" || codeView.name === null) return null;
  return { name: codeView.name, key: codeView.id + codeView.age.toString(16).toUpperCase() };
}

/** The key of an image: time stamp and size. Null when the dump does not tell them. */
export function imageKey(module: LoadedModule): StoreKey | null {
  const name = safeFileName(module.name);
  if (name === null || module.timeDateStamp === null || module.size === 0) return null;
  const stamp = module.timeDateStamp.toString(16).toUpperCase().padStart(8, "0");
  return { name, key: stamp + module.size.toString(16) };
}

/** The key as a file that is missing. */
export function missingFile({ name, key }: StoreKey): MissingSymbol {
  return { name, key, url_path: `${name}/${key}/${name}` };
}
