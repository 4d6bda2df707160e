/** Remembers which symbols and which fields of types the readers of a kernel ask for. */

import { Btf, type FieldPlace } from "../../../src/dump/linux/kernel/btf.ts";
import { Kallsyms } from "../../../src/dump/linux/kernel/kallsyms.ts";

/** What was asked for and is there. */
export interface Uses {
  readonly symbols: ReadonlySet<string>;
  readonly fields: ReadonlyMap<string, FieldPlace>;
  readonly sizes: ReadonlyMap<string, number>;
  /** Ends the recording. */
  readonly stop: () => void;
}

/** Begins to record, for every kernel that is opened from now on. */
export function recordUses(): Uses {
  const symbols = new Set<string>();
  const fields = new Map<string, FieldPlace>();
  const sizes = new Map<string, number>();
  const { at, addressOf } = Kallsyms.prototype;
  const { place, size } = Btf.prototype;
  Kallsyms.prototype.at = function (address) {
    const found = at.call(this, address);
    if (found !== null) symbols.add(found.name);
    return found;
  };
  Kallsyms.prototype.addressOf = function (name) {
    const found = addressOf.call(this, name);
    if (found !== null) symbols.add(name);
    return found;
  };
  Btf.prototype.place = function (path) {
    const found = place.call(this, path);
    if (found !== null) fields.set(path, found);
    return found;
  };
  Btf.prototype.size = function (structure) {
    const found = size.call(this, structure);
    sizes.set(structure, found);
    return found;
  };
  const stop = () => {
    Object.assign(Kallsyms.prototype, { at, addressOf });
    Object.assign(Btf.prototype, { place, size });
  };
  return { symbols, fields, sizes, stop };
}
