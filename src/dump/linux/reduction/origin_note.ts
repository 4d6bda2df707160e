/**
 * The note in a reduced core that tells what it was reduced from: an ELF note of our own name with text of the kind
 * that VMCOREINFO has. Readers that do not know it pass over it.
 */

/** The note's name. */
export const ORIGIN_NOTE = "HVLAB";

const TYPE = 1;
const NOTE_HEADER_BYTES = 12;
const NAME_BYTES = 8;

/** The note of a core that was made from one with `memoryBytes` of memory. */
export function writeOriginNote(memoryBytes: number): Uint8Array {
  const text = new TextEncoder().encode(`REDUCED_FROM_BYTES=${memoryBytes}`);
  const note = new Uint8Array(NOTE_HEADER_BYTES + NAME_BYTES + Math.ceil(text.length / 4) * 4);
  const view = new DataView(note.buffer);
  view.setUint32(0, ORIGIN_NOTE.length + 1, true);
  view.setUint32(4, text.length, true);
  view.setUint32(8, TYPE, true);
  note.set(new TextEncoder().encode(ORIGIN_NOTE), NOTE_HEADER_BYTES);
  note.set(text, NOTE_HEADER_BYTES + NAME_BYTES);
  return note;
}

/** How much memory the core held that this note's core was made from; null when the note does not tell. */
export function readOriginNote(text: string): bigint | null {
  const bytes = /^REDUCED_FROM_BYTES=(\d{1,16})$/.exec(text)?.[1];
  return bytes === undefined ? null : BigInt(bytes);
}
