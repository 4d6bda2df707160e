/** Writes small symbol files for tests. It shares no table with the reader. */

/** The usual size of a block; large files need larger ones, since the list of lists is one block. */
const BLOCK = 512;

/** What a written file holds. */
export interface WrittenSymbols {
  /** 16 bytes as they lie in the file. */
  guid: Uint8Array;
  /** The age that images name; the first stream gets another one. */
  age: number;
  publics: { name: string; section: number; offset: number }[];
  /** 40-byte section headers: address and size. */
  sections: { rva: number; size: number }[];
  /** Data that is carried with its address: the table of functions and the unwind data. */
  functions?: { rva: number; bytes: Uint8Array };
  unwind?: { rva: number; bytes: Uint8Array };
  /** (from, to) pairs in both directions, for images that were rearranged after linking. */
  blockBytes?: number;
  rearranged?: { toSource: [number, number][]; fromSource: [number, number][] };
}

/** The bytes of a symbol file. */
export function writeSymbols(wanted: WrittenSymbols): Uint8Array {
  const streams: Uint8Array[] = [];
  const add = (bytes: Uint8Array): number => streams.push(bytes) - 1;
  add(new Uint8Array(0));
  add(join([numbers(20000404, 1, wanted.age + 2), wanted.guid, numbers(0, 0, 0, 0, 0)]));
  add(new Uint8Array(0));
  const dbi = add(new Uint8Array(0));
  add(new Uint8Array(0));
  const records: Uint8Array[] = [];
  const places: { at: number; section: number; offset: number }[] = [];
  let at = 0;
  for (const { name, section, offset } of wanted.publics) {
    const text = new TextEncoder().encode(`${name}\0`);
    const padded = new Uint8Array((text.length + 14 + 3 & ~3) - 14);
    padded.set(text);
    const record = join([shorts(12 + padded.length, 0x110E), numbers(2, offset), shorts(section), padded]);
    places.push({ at, section, offset });
    records.push(record);
    at += record.length;
  }
  const recordStream = add(join(records));
  places.sort((a, b) => a.section - b.section || a.offset - b.offset);
  const hash = numbers(0xFFFFFFFF);
  const publicStream = add(
    join([
      numbers(hash.length, places.length * 4, 0, 0, 0, 0, 0),
      hash,
      numberList(places.map((each) => each.at)),
    ]),
  );
  const headers = add(join([...wanted.sections.map(({ rva, size }) => {
    const header = new Uint8Array(40);
    header.set(numbers(size, rva, size, rva), 8);
    return header;
  })]));
  const carried = (part: { rva: number; bytes: Uint8Array } | undefined): number =>
    part === undefined
      ? 0xFFFF
      : add(join([numbers(1, 32, part.bytes.length, part.rva, 0, 0, 0, 0), part.bytes]));
  const table = (pairs: [number, number][] | undefined): number =>
    pairs === undefined ? 0xFFFF : add(numbers(...pairs.flat()));
  const none = 0xFFFF;
  const debug = shorts(
    none,
    none,
    none,
    table(wanted.rearranged?.toSource),
    table(wanted.rearranged?.fromSource),
    headers,
    none,
    carried(wanted.unwind),
    carried(wanted.functions),
    none,
    wanted.rearranged === undefined ? none : headers,
  );
  streams[dbi] = join([
    numbers(0xFFFFFFFF, 19990903, wanted.age),
    shorts(none, 0, publicStream, 0, recordStream, 0),
    numbers(0, 0, 0, 0, 0, 0, debug.length, 0),
    shorts(0, 0x8664),
    numbers(0),
    debug,
  ]);
  return container(streams, wanted.blockBytes ?? BLOCK);
}

function container(streams: Uint8Array[], size: number): Uint8Array {
  const blocks: Uint8Array[] = [new Uint8Array(size), new Uint8Array(size), new Uint8Array(size)];
  const place = (bytes: Uint8Array): number[] => {
    const numbersOf: number[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const block = new Uint8Array(size);
      block.set(bytes.subarray(at, at + size));
      numbersOf.push(blocks.push(block) - 1);
    }
    // Neighbours in a stream need not be neighbours in the file.
    return numbersOf;
  };
  const lists = streams.map(place);
  const directory = numberList([streams.length, ...streams.map(({ length }) => length)].concat(lists.flat()));
  const directoryBlocks = place(directory);
  const [map] = place(numberList(directoryBlocks));
  blocks[0]?.set(new TextEncoder().encode("Microsoft C/C++ MSF 7.00\r\n\x1ADS\0\0\0"));
  blocks[0]?.set(numbers(size, 1, blocks.length, directory.length, 0, map ?? 0), 32);
  return join(blocks);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function numbers(...values: number[]): Uint8Array {
  return numberList(values);
}

function numberList(values: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values, (value) => value >>> 0).buffer);
}

function shorts(...values: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(values).buffer);
}
