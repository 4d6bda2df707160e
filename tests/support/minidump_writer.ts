/** Writes minidumps with threads, modules and memory for tests. Offsets of its own, as in `dump_writer.ts`. */

import { DumpBytes, joinBytes } from "./dump_writer.ts";

/** A position and size in the file, as minidumps write it: size first. */
type Location = [size: number, position: number];

/** A module of a written minidump. */
export interface WrittenModule {
  base: bigint;
  size: number;
  name: string;
  record?: Uint8Array;
  version?: [number, number, number, number];
}

/** A thread of a written minidump. */
export interface WrittenThread {
  id: number;
  teb?: bigint;
  context?: Uint8Array;
  stack?: [address: bigint, bytes: Uint8Array];
}

/** Builds a minidump: data is added first, and streams point to it. */
export class MinidumpWriter {
  /** Room for the header and a directory of 16 streams. */
  static readonly #dataStart = 0x20 + 16 * 12;
  readonly #parts: Uint8Array[] = [];
  readonly #streams: [type: number, location: Location][] = [];
  #size = MinidumpWriter.#dataStart;

  /** Adds bytes; where they lie. */
  add(bytes: Uint8Array): Location {
    const position = this.#size;
    const padding = (4 - bytes.length % 4) % 4;
    this.#parts.push(bytes, new Uint8Array(padding));
    this.#size += bytes.length + padding;
    return [bytes.length, position];
  }

  /** Adds text with its length in front; its position. */
  text(text: string): number {
    const bytes = new DumpBytes(4 + text.length * 2 + 2).u32(0, text.length * 2).wide(4, text);
    return this.add(bytes.bytes)[1];
  }

  stream(type: number, bytes: Uint8Array): this {
    this.#streams.push([type, this.add(bytes)]);
    return this;
  }

  system(architecture: number, platform = 2, build = 19045): this {
    return this.stream(
      7,
      new DumpBytes(0x38).u16(0, architecture).u8(6, 4).u32(8, 10, 0, build, platform).bytes,
    );
  }

  modules(modules: WrittenModule[], padding = 0): this {
    const rows = modules.map(({ base, size, name, record, version }) => {
      const row = new DumpBytes(108).u64(0, base).u32(8, size, 0x1234, 0x5678, this.text(name));
      if (version !== undefined) {
        const [major, minor, build, revision] = version;
        row.u32(0x18, 0xFEEF04BD, 0x10000).u16(
          0x20,
          minor,
          major,
          revision,
          build,
          minor,
          major,
          revision,
          build,
        );
      }
      return record === undefined ? row.bytes : row.u32(0x4C, ...this.add(record)).bytes;
    });
    const head = new DumpBytes(4 + padding).u32(0, modules.length).bytes;
    return this.stream(4, joinBytes(head, ...rows));
  }

  threads(threads: WrittenThread[], extended = false): this {
    const rows = threads.map(({ id, teb = 0n, context, stack }) => {
      const row = new DumpBytes(extended ? 64 : 48).u32(0, id, 1, 0x20, 8).u64(0x10, teb);
      if (stack !== undefined) row.u64(0x18, stack[0]).u32(0x20, ...this.add(stack[1]));
      if (context !== undefined) row.u32(0x28, ...this.add(context));
      return row.bytes;
    });
    return this.stream(extended ? 8 : 3, joinBytes(new DumpBytes(4).u32(0, threads.length).bytes, ...rows));
  }

  memory(ranges: [address: bigint, bytes: Uint8Array][]): this {
    const rows = ranges.map(([address, bytes]) =>
      new DumpBytes(16).u64(0, address).u32(8, ...this.add(bytes)).bytes
    );
    return this.stream(5, joinBytes(new DumpBytes(4).u32(0, ranges.length).bytes, ...rows));
  }

  memory64(ranges: [address: bigint, bytes: Uint8Array][], claimed = BigInt(ranges.length)): this {
    const [, start] = this.add(joinBytes(...ranges.map(([, bytes]) => bytes)));
    const rows = ranges.map(([address, bytes]) =>
      new DumpBytes(16).u64(0, address, BigInt(bytes.length)).bytes
    );
    return this.stream(9, joinBytes(new DumpBytes(16).u64(0, claimed, BigInt(start)).bytes, ...rows));
  }

  exception(threadId: number, code: number, address: bigint, context?: Uint8Array): this {
    const row = new DumpBytes(0xA8).u32(0, threadId).u32(8, code, 1).u64(0x18, address).u32(0x20, 1).u64(
      0x28,
      7n,
    );
    return this.stream(6, context === undefined ? row.bytes : row.u32(0xA0, ...this.add(context)).bytes);
  }

  unloaded(modules: [base: bigint, size: number, name: string][], element = 24): this {
    const rows = modules.map(([base, size, name]) =>
      new DumpBytes(element).u64(0, base).u32(8, size, 0x11, 0x22, this.text(name)).bytes
    );
    const head = new DumpBytes(12).u32(0, 12, element, modules.length).bytes;
    return this.stream(14, joinBytes(head, ...rows));
  }

  threadNames(names: [id: number, name: string][]): this {
    const rows = names.map(([id, name]) =>
      new DumpBytes(12).u32(0, id).u64(4, BigInt(this.text(name))).bytes
    );
    return this.stream(24, joinBytes(new DumpBytes(4).u32(0, names.length).bytes, ...rows));
  }

  /** The file. */
  finish(flags = 0n): Uint8Array<ArrayBuffer> {
    const head = new DumpBytes(MinidumpWriter.#dataStart)
      .text(0, "MDMP")
      .u32(4, 0xA793, this.#streams.length, 0x20, 0, 1_700_000_000)
      .u64(0x18, flags);
    this.#streams.forEach(([type, location], index) => head.u32(0x20 + index * 12, type, ...location));
    return joinBytes(head.bytes, ...this.#parts);
  }
}
