/** Puts types that hold only the fields which somebody asks for in the place of a kernel's own. */

import type { LinuxKernel } from "../../../src/dump/linux/kernel/kernel.ts";
import { BtfWriter } from "../../../tests/support/btf_writer.ts";
import type { Store } from "./empty_symbols.ts";
import type { Uses } from "./record_uses.ts";

/** A search takes smaller ones for those of a module. */
const FEWEST_BYTES = 80_000;
const NUMBER_BYTES = 16;

interface Field {
  /** Bytes from the start of the outermost structure; null for what only leads to another field. */
  offset: number | null;
  readonly fields: Map<string, Field>;
}

/** Writes them over the kernel's own and zeros behind them. */
export function emptyTypes(kernel: LinuxKernel, uses: Uses, store: Store): void {
  const place = kernel.typesPlace();
  if (place === null) throw new Error("the kernel has no types");
  const bytes = new Uint8Array(place.size);
  bytes.set(writeTypes(uses));
  store(place.start, bytes);
}

function writeTypes({ fields, sizes }: Uses): Uint8Array {
  const types = new BtfWriter();
  const number = types.integer("u64", 8);
  for (let length = 0; length < FEWEST_BYTES; length += NUMBER_BYTES) types.integer("", 8);
  const structures = new Map<string, Field>();
  for (const name of sizes.keys()) structures.set(name, { offset: 0, fields: new Map() });
  for (const [path, { offset }] of fields) {
    let into = structures;
    let field: Field | undefined;
    for (const name of path.split(".")) {
      field = into.get(name) ?? { offset: null, fields: new Map() };
      into.set(name, field);
      into = field.fields;
    }
    if (field !== undefined) field.offset = offset;
  }
  const write = (name: string, size: number, inside: ReadonlyMap<string, Field>, base: number): number =>
    types.structure(
      name,
      size,
      [...inside].map(([label, field]): [string, number, number] => {
        const offset = field.offset ?? base;
        return [
          label,
          offset - base,
          field.fields.size === 0 ? number : write("", size, field.fields, offset),
        ];
      }),
    );
  for (const [name, field] of structures) write(name, sizes.get(name) ?? 8, field.fields, 0);
  return types.bytes();
}
