/** What the header of a disk's file says, whatever its format. */

import type { DiskFormat, DiskType } from "../../../../contract/disk.ts";
import type { RandomAccessFile } from "../../../../host/files.ts";
import { badDisk } from "../bad_disk.ts";

/** How a differencing disk finds its parent. */
export interface ParentClaim {
  /** Names to look under, best first; relative ones are of the child's folder. */
  names: readonly [string, ...string[]];
  /** The parent's format, where the child states it. */
  format?: string;
  /** The identity that the parent must have, where the format knows one. */
  id?: string;
}

/** What a header says; nothing of it is proved. `size` is what a guest sees, in bytes. */
export interface DiskHeader {
  format: DiskFormat;
  type: DiskType;
  size: bigint;
  parent?: ParentClaim;
  /** The identity by which children know this disk, where the format knows one. */
  id?: string;
  snapshots?: number;
  encrypted?: boolean;
  markedCorrupt?: boolean;
  /** Another file that holds its data. */
  dataFile?: string;
}

/** A disk's file while its header is read. Never trusts a count or an offset of the file. */
export class HeaderReader {
  readonly path: string;
  readonly size: number;
  readonly #file: RandomAccessFile;

  constructor(file: RandomAccessFile, path: string) {
    this.#file = file;
    this.path = path;
    this.size = file.size;
  }

  /** Up to `length` bytes; fewer only at the end of the file. */
  peek(offset: number, length: number): Uint8Array {
    return this.#file.read(offset, length);
  }

  /** Exactly these bytes. Throws `hv.bad_image` when the file ends before. */
  view(offset: number | bigint, length: number, what: string): DataView<ArrayBufferLike> {
    const start = Number(offset);
    if (start + length <= this.size) {
      const bytes = this.#file.read(start, length);
      if (bytes.length === length) return new DataView(bytes.buffer, bytes.byteOffset, length);
    }
    throw badDisk(this.path, "truncated", `its ${what} is cut off`, {
      offset: Math.min(start, Number.MAX_SAFE_INTEGER),
      expected: `${length} bytes`,
    });
  }

  /** Throws `hv.bad_image` about something at an offset. */
  refuse(reason: string, found: string, offset: number, expected: string): never {
    throw badDisk(this.path, reason, found, { offset, expected });
  }
}

/** A GUID in the byte order of Windows, in lower case. */
export function guidAt(view: DataView, offset: number): string {
  const hex = (start: number, count: number, little: boolean): string => {
    const bytes = Array.from({ length: count }, (_, index) => view.getUint8(offset + start + index));
    return (little ? bytes.reverse() : bytes).map((byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return [hex(0, 4, true), hex(4, 2, true), hex(6, 2, true), hex(8, 2, false), hex(10, 6, false)].join("-");
}
