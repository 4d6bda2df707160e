/** BTF: the kernel's description of its own types, read for the places of fields. */

import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";

const MAGIC = 0xEB9F;
const HEADER_BYTES = 24;
const TYPE_BYTES = 12;
const MEMBER_BYTES = 12;
const MOST_TYPES = 4_000_000;
/** Anonymous structures inside each other, and names for one type behind each other. */
const DEEPEST_NESTING = 12;
const LONGEST_CHAIN = 32;
/** Members that one look at a structure opens, those of its anonymous parts counted. */
const MOST_MEMBERS = 10_000;

const KIND = { structure: 4, union: 5 } as const;
/** Kinds that are another type under a name or a qualifier: typedef, volatile, const, restrict, type tag. */
const TRANSPARENT: ReadonlySet<number> = new Set([8, 9, 10, 11, 18]);
/** Bytes behind the common part of a type: so many, and so many for each of its elements. */
const PAYLOADS: ReadonlyMap<number, readonly [fixed: number, each: number]> = new Map([
  [1, [4, 0]], // integer
  [3, [12, 0]], // array
  [4, [0, 12]], // structure
  [5, [0, 12]], // union
  [6, [0, 8]], // enumeration
  [13, [0, 8]], // function prototype
  [14, [4, 0]], // variable
  [15, [0, 12]], // data section
  [17, [4, 0]], // declaration tag
  [19, [0, 12]], // 64-bit enumeration
]);
const LAST_KIND = 19;

/** Where a field lies. */
export interface FieldPlace {
  /** Bytes from the start of the outer structure. */
  readonly offset: number;
  /** Bits inside that byte, and how many; a width of 0 is a whole field. */
  readonly shift: number;
  readonly width: number;
}

interface Member {
  readonly bits: number;
  readonly width: number;
  readonly type: number;
}

/** The types of one kernel. */
export class Btf {
  readonly #view: DataView;
  readonly #strings: Uint8Array;
  readonly #positions: Uint32Array;
  readonly #places = new Map<string, FieldPlace | null>();
  readonly #structures = new Map<string, number>();

  /** Indexes the types. Fails with `hv.bad_dump` (`btf`). */
  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = view;
    if (bytes.length < HEADER_BYTES || view.getUint16(0, true) !== MAGIC) {
      throw damaged("it has no magic number");
    }
    const header = view.getUint32(4, true);
    const types = header + view.getUint32(8, true);
    const end = types + view.getUint32(12, true);
    const strings = header + view.getUint32(16, true);
    const stringsEnd = strings + view.getUint32(20, true);
    if (end > bytes.length || stringsEnd > bytes.length) throw damaged("its sections lie outside of it");
    this.#strings = bytes.subarray(strings, stringsEnd);
    this.#positions = indexTypes(view, types, end);
  }

  /** Types, the one of number 0 left out. */
  get count(): number {
    return this.#positions.length - 1;
  }

  /** Where `structure.field.field` lies; null when there is no such structure or field. */
  place(path: string): FieldPlace | null {
    const known = this.#places.get(path);
    if (known !== undefined) return known;
    const place = this.#find(path);
    this.#places.set(path, place);
    return place;
  }

  has(path: string): boolean {
    return this.place(path) !== null;
  }

  /** Offset of a field in bytes; fails with `hv.bad_dump` (`btf`) when it is not there. */
  offset(path: string): number {
    const place = this.place(path);
    if (place === null) throw badDump("btf", `The kernel's types have no ${path}`);
    return place.offset;
  }

  /** Size of a structure; fails with `hv.bad_dump` (`btf`) when it is not there. */
  size(structure: string): number {
    const type = this.#structure(structure);
    if (type === 0) throw badDump("btf", `The kernel's types have no ${structure}`);
    return this.#view.getUint32((this.#positions[type] ?? 0) + 8, true);
  }

  #find(path: string): FieldPlace | null {
    const [structure = "", ...fields] = path.split(".");
    let type = this.#structure(structure);
    if (type === 0) return null;
    let bits = 0;
    let width = 0;
    for (const field of fields) {
      const member = this.#member(type, field);
      if (member === null) return null;
      bits += member.bits;
      width = member.width;
      type = this.#strip(member.type);
    }
    return { offset: Math.floor(bits / 8), shift: bits % 8, width };
  }

  /** Number of the structure or union of that name; 0 when there is none. */
  #structure(name: string): number {
    const known = this.#structures.get(name);
    if (known !== undefined) return known;
    let found = 0;
    for (let type = 1; type < this.#positions.length; type++) {
      const at = this.#positions[type] ?? 0;
      const kind = (this.#view.getUint32(at + 4, true) >>> 24) & 31;
      if (kind !== KIND.structure && kind !== KIND.union) continue;
      if (!this.#isNamed(this.#view.getUint32(at, true), name)) continue;
      found = type;
      break;
    }
    this.#structures.set(name, found);
    return found;
  }

  /** A member by name, looked for in anonymous members as well. */
  #member(type: number, name: string): Member | null {
    const budget = { left: MOST_MEMBERS };
    return this.#memberIn(type, name, 0, budget);
  }

  #memberIn(type: number, name: string, depth: number, budget: { left: number }): Member | null {
    const at = this.#positions[type];
    if (at === undefined || type === 0 || depth > DEEPEST_NESTING) return null;
    const info = this.#view.getUint32(at + 4, true);
    const kind = (info >>> 24) & 31;
    if (kind !== KIND.structure && kind !== KIND.union) return null;
    for (let index = 0; index < (info & 0xFFFF); index++) {
      if (budget.left-- <= 0) {
        throw badDump("btf", `The kernel's types nest without an end below "${fieldText(name)}"`);
      }
      const entry = at + TYPE_BYTES + index * MEMBER_BYTES;
      const label = this.#view.getUint32(entry, true);
      const inner = this.#view.getUint32(entry + 4, true);
      const position = this.#view.getUint32(entry + 8, true);
      const [bits, width] = info >>> 31 === 0 ? [position, 0] : [position & 0xFF_FFFF, position >>> 24];
      if (label !== 0) {
        if (this.#isNamed(label, name)) return { bits, width, type: inner };
        continue;
      }
      const opened = this.#memberIn(this.#strip(inner), name, depth + 1, budget);
      if (opened !== null) return { ...opened, bits: opened.bits + bits };
    }
    return null;
  }

  #strip(type: number): number {
    for (let current = type, steps = 0; steps < LONGEST_CHAIN; steps++) {
      const at = this.#positions[current];
      if (at === undefined || current === 0) return 0;
      if (!TRANSPARENT.has((this.#view.getUint32(at + 4, true) >>> 24) & 31)) return current;
      current = this.#view.getUint32(at + 8, true);
    }
    throw badDump("btf", `Type ${type} of the kernel is a chain of names without an end`);
  }

  #isNamed(position: number, name: string): boolean {
    if (position + name.length >= this.#strings.length) return false;
    for (let at = 0; at < name.length; at++) {
      if (this.#strings[position + at] !== name.charCodeAt(at)) return false;
    }
    return this.#strings[position + name.length] === 0;
  }
}

/** Where each type begins; type 0 is void and has no place. */
function indexTypes(view: DataView, start: number, end: number): Uint32Array {
  const positions = new Uint32Array(Math.min(MOST_TYPES, Math.ceil((end - start) / TYPE_BYTES)) + 1);
  let count = 1;
  for (let at = start; at < end; count++) {
    if (at + TYPE_BYTES > end || count >= positions.length) throw damaged(`type ${count} lies outside of it`);
    const info = view.getUint32(at + 4, true);
    const kind = (info >>> 24) & 31;
    if (kind === 0 || kind > LAST_KIND) throw damaged(`type ${count} is of the unknown kind ${kind}`);
    const [fixed, each] = PAYLOADS.get(kind) ?? [0, 0];
    positions[count] = at;
    at += TYPE_BYTES + fixed + each * (info & 0xFFFF);
    if (at > end) throw damaged(`type ${count} lies outside of it`);
  }
  return positions.slice(0, count);
}

function damaged(what: string): Error {
  return badDump("btf", `The kernel's type description is damaged: ${what}`);
}
