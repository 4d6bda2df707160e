/** Writes type descriptions of kernels, for tests. */

import { DumpBytes, joinBytes } from "./dump_writer.ts";

const KIND = { integer: 1, structure: 4, alias: 8 } as const;

/** Types in the order in which they are made; each gives the number by which others name it. */
export class BtfWriter {
  readonly #types: Uint8Array[] = [];
  #strings = "\0";

  integer(name: string, size: number): number {
    return this.#add(new DumpBytes(16).u32(0, this.#string(name), KIND.integer << 24, size, 8 * size).bytes);
  }

  /** Another name for a type. */
  alias(name: string, type: number): number {
    return this.#add(new DumpBytes(12).u32(0, this.#string(name), KIND.alias << 24, type).bytes);
  }

  /** Members are a name, an offset in bytes and a type; a member without a name is anonymous. */
  structure(
    name: string,
    size: number,
    members: readonly [name: string, offset: number, type: number][],
  ): number {
    return this.#members(name, size, 0, members.map(([label, offset, type]) => [label, 8 * offset, type]));
  }

  /** Members are a name, an offset and a width in bits, and a type. */
  bitStructure(
    name: string,
    size: number,
    members: readonly [name: string, bit: number, width: number, type: number][],
  ): number {
    return this.#members(
      name,
      size,
      0x8000_0000,
      members.map(([label, bit, width, type]) => [
        label,
        width * 2 ** 24 + bit,
        type,
      ]),
    );
  }

  bytes(): Uint8Array {
    const types = joinBytes(...this.#types);
    const strings = new TextEncoder().encode(this.#strings);
    const header = new DumpBytes(24).u16(0, 0xEB9F).u8(2, 1)
      .u32(4, 24, 0, types.length, types.length, strings.length);
    return joinBytes(header.bytes, types, strings);
  }

  #members(
    name: string,
    size: number,
    flag: number,
    members: readonly (readonly [name: string, position: number, type: number])[],
  ): number {
    const bytes = new DumpBytes(12 + 12 * members.length)
      .u32(0, this.#string(name), (flag + KIND.structure * 2 ** 24 + members.length) >>> 0, size);
    members.forEach(([label, position, type], index) => {
      bytes.u32(12 + 12 * index, this.#string(label), type, position);
    });
    return this.#add(bytes.bytes);
  }

  #add(type: Uint8Array): number {
    return this.#types.push(type);
  }

  #string(text: string): number {
    if (text === "") return 0;
    const position = this.#strings.length;
    this.#strings += `${text}\0`;
    return position;
  }
}
