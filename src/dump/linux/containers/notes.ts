/** ELF notes, as cores and kdumps hold them. */

/** One note. */
export interface Note {
  readonly name: string;
  readonly type: number;
  readonly data: Uint8Array;
}

const HEADER_BYTES = 12;
const LONGEST_NAME = 256;
const MAXIMUM_NOTES = 65_536;

/** The notes in order, up to the first damaged one. */
export function readNotes(bytes: Uint8Array): Note[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const notes: Note[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length && notes.length < MAXIMUM_NOTES;) {
    const nameSize = view.getUint32(at, true);
    const dataSize = view.getUint32(at + 4, true);
    const start = at + HEADER_BYTES + align4(nameSize);
    if (nameSize > LONGEST_NAME || start + dataSize > bytes.length) break;
    const name = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + nameSize);
    notes.push({
      name: String.fromCharCode(...name).replace(/\0+$/, ""),
      type: view.getUint32(at + 8, true),
      data: bytes.subarray(start, start + dataSize),
    });
    at = start + align4(dataSize);
  }
  return notes;
}

function align4(size: number): number {
  return (size + 3) & ~3;
}
