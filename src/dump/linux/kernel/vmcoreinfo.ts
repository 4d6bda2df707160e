/** VMCOREINFO: what the kernel says about itself for those who read its memory from outside. */

import { badDump } from "../../reasons.ts";
import { fieldText } from "../../text.ts";
import type { LinuxCore } from "../containers/core.ts";

const LONGEST_KEY = 128;
/** No structure that a dump reader looks at is larger. */
const LARGEST_SIZE = 2 ** 20;

/** The note's lines by key. A value that is no number fails with `hv.bad_dump` (`vmcoreinfo`); a missing one is null. */
export class Vmcoreinfo {
  /** Where it was found. */
  readonly foundBy: "note" | "scan";
  readonly #lines = new Map<string, string>();

  constructor(text: string, foundBy: "note" | "scan") {
    this.foundBy = foundBy;
    for (const line of text.split("\n")) {
      const split = line.indexOf("=");
      const key = line.slice(0, split).replaceAll("\0", "");
      if (split > 0 && key.length < LONGEST_KEY) {
        this.#lines.set(key, line.slice(split + 1).replaceAll("\0", ""));
      }
    }
  }

  /** Kernel release. */
  get release(): string | null {
    return this.#text("OSRELEASE");
  }

  get buildId(): string | null {
    return this.#text("BUILD-ID");
  }

  /** Unix time of the crash, when the kernel reached the code that notes it. */
  get crashTime(): number | null {
    const value = this.#integer("CRASHTIME", 10);
    return value === null ? null : Number(value);
  }

  /** How far the kernel was moved at boot; 0 without address randomization. */
  get kernelOffset(): bigint {
    return this.#integer("KERNELOFFSET", 16) ?? 0n;
  }

  /** Bytes of a page. */
  get pageSize(): number | null {
    const value = this.#integer("PAGESIZE", 10);
    return value === null ? null : Number(value);
  }

  symbol(name: string): bigint | null {
    return this.#integer(`SYMBOL(${name})`, 16);
  }

  /** The highest address below a limit that it states for a symbol; null when it states none. */
  lastSymbolBelow(limit: bigint): bigint | null {
    const names = [...this.#lines.keys()].map((key) => /^SYMBOL\((\w{1,64})\)$/.exec(key)?.[1] ?? null);
    const addresses = names.map((name) => name === null ? null : this.symbol(name));
    return addresses.reduce(
      (last, address) => address !== null && address < limit && address > (last ?? 0n) ? address : last,
      null,
    );
  }

  number(name: string): bigint | null {
    return this.#integer(`NUMBER(${name})`, 0);
  }

  /** Offset of a field, `structure.field`; fails when it is not stated. */
  offset(field: string): number {
    return this.#small(`OFFSET(${field})`);
  }

  /** Size of a structure; fails when it is not stated. */
  size(structure: string): number {
    return this.#small(`SIZE(${structure})`);
  }

  has(key: string): boolean {
    return this.#lines.has(key);
  }

  #text(key: string): string | null {
    const value = this.#lines.get(key);
    return value === undefined || value === "" ? null : fieldText(value, LONGEST_KEY);
  }

  #small(key: string): number {
    const value = this.#integer(key, 0);
    if (value === null || value < 0n || value > LARGEST_SIZE) {
      throw badDump("vmcoreinfo", `VMCOREINFO does not state a usable ${key}`, {
        found: value?.toString() ?? null,
      });
    }
    return Number(value);
  }

  /** Base 0 takes decimal and `0x` numbers. */
  #integer(key: string, base: 0 | 10 | 16): bigint | null {
    const text = this.#lines.get(key)?.trim();
    if (text === undefined) return null;
    const plain = base === 16 && /^[0-9a-f]{1,16}$/i.test(text) ? `0x${text}` : text;
    const negative = plain.startsWith("-");
    const digits = negative ? plain.slice(1) : plain;
    if (!/^(?:0x[0-9a-f]{1,16}|\d{1,20})$/i.test(digits)) {
      throw badDump(
        "vmcoreinfo",
        `VMCOREINFO states ${fieldText(key)} as "${fieldText(text, 40)}", which is no number`,
      );
    }
    return negative ? -BigInt(digits) : BigInt(digits);
  }
}

/** In memory the note begins a page: sizes of its name and text, a type, then these words. */
const NOTE_HEADER_BYTES = 12;
const NOTE_START = Array.from("VMCOREINFO\0\0OSRELEASE=", (character) => character.charCodeAt(0));
const NAME_BYTES = 12;
const SHORTEST_TEXT = 256;
const LONGEST_TEXT = 2 ** 16;
const PAGE_BYTES = 4096;

/**
 * VMCOREINFO from the core's note, else from the copy that the kernel keeps in its memory, which has to be searched for
 * through all of it. Fails with `hv.bad_dump` (`vmcoreinfo`) when it is nowhere.
 */
export function findVmcoreinfo(core: LinuxCore): Vmcoreinfo {
  const stated = core.vmcoreinfo === null ? null : new Vmcoreinfo(core.vmcoreinfo, "note");
  if (stated?.has("OSRELEASE") === true) return stated;
  for (const { address, bytes } of core.pieces()) {
    for (let at = 0; at + PAGE_BYTES <= bytes.length; at += PAGE_BYTES) {
      if (!NOTE_START.every((byte, index) => bytes[at + NOTE_HEADER_BYTES + index] === byte)) continue;
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, PAGE_BYTES);
      const size = view.getUint32(4, true);
      if (size < SHORTEST_TEXT || size > LONGEST_TEXT) continue;
      const text = core.physical.read(BigInt(address + at + NOTE_HEADER_BYTES + NAME_BYTES), size);
      if (text instanceof Uint8Array) return new Vmcoreinfo(new TextDecoder("latin1").decode(text), "scan");
    }
  }
  throw badDump(
    "vmcoreinfo",
    "Cannot find VMCOREINFO: neither a note of the core nor its memory holds it",
    {},
    "Take the core of a Linux guest after its kernel has started",
  );
}
