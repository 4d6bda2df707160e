/**
 * The layout of a reduced ELF core: the header and the notes of the whole one, a note of its own, and one segment for
 * each run of pages that are kept. What is left out is in no segment, so that no reader takes it for zeros.
 */

import { ByteReader, type ByteSource } from "../../bytes.ts";
import { FRAME_BYTES, type PhysicalMemory } from "../../memory/physical.ts";
import { badDump } from "../../reasons.ts";
import { ELF64 } from "../elf.ts";
import { writeOriginNote } from "./origin_note.ts";

const HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const SEGMENT_LOAD = 1;
const SEGMENT_NOTE = 4;
const NOTE_LIMIT_BYTES = 16 * 1024 * 1024;
/** An inspection counts the memory of so many segments. More are joined over the pages between them. */
const MOST_RUNS = 4000;
const WIDEST_GAP = 2 ** 20;

/** Pages that lie one behind the other in memory and in the whole core. */
export interface KeptRun {
  /** Physical address of the first. */
  readonly address: number;
  /** Where it lies in the whole core. */
  readonly offset: number;
  readonly length: number;
}

/** A reduced core: what its file begins with, and what follows, in order. */
export interface ReducedLayout {
  readonly head: Uint8Array;
  readonly runs: readonly KeptRun[];
  /** Bytes of memory in all runs. */
  readonly kept: number;
}

/**
 * Lays a reduced core out. `frames` are the pages to keep, `memoryBytes` what the whole core holds. Fails with
 * `hv.bad_dump` when the headers of the whole core cannot be read.
 */
export function layOutReduced(
  source: ByteSource,
  memory: Pick<PhysicalMemory, "fileOffsetOf">,
  frames: Iterable<number>,
  memoryBytes: number,
): ReducedLayout {
  const reader = new ByteReader(source, { what: "ELF core" });
  const runs = joinFrames(memory, [...frames].sort((a, b) => a - b));
  const notes = [...noteSegments(reader), writeOriginNote(memoryBytes)];
  const noteBytes = notes.reduce((sum, { length }) => sum + length, 0);
  const notesAt = HEADER_BYTES + PROGRAM_HEADER_BYTES * (runs.length + 1);
  const start = Math.ceil((notesAt + noteBytes) / FRAME_BYTES) * FRAME_BYTES;
  const head = new Uint8Array(start);
  head.set(reader.bytes(0, HEADER_BYTES, "the ELF header"));
  const view = new DataView(head.buffer);
  view.setBigUint64(ELF64.program_headers.offset, BigInt(HEADER_BYTES), true);
  view.setUint16(ELF64.program_header_count.offset, runs.length + 1, true);
  clearSections(view);
  writeSegment(view, 0, { type: SEGMENT_NOTE, offset: notesAt, address: 0, length: noteBytes });
  let [noteAt, offset, kept] = [notesAt, start, 0];
  for (const note of notes) {
    head.set(note, noteAt);
    noteAt += note.length;
  }
  for (const [index, { address, length }] of runs.entries()) {
    writeSegment(view, index + 1, { type: SEGMENT_LOAD, offset, address, length });
    offset += length;
    kept += length;
  }
  return { head, runs, kept };
}

function joinFrames(memory: Pick<PhysicalMemory, "fileOffsetOf">, frames: readonly number[]): KeptRun[] {
  for (let gap = 0;; gap = 2 * gap + 1) {
    const runs = runsOver(memory, frames, gap);
    if (runs.length <= MOST_RUNS) return runs;
    if (gap > WIDEST_GAP) {
      throw badDump("header_damaged", `The core's memory is in ${runs.length} pieces, which is too many`, {
        found: runs.length,
        expected: MOST_RUNS,
      });
    }
  }
}

/** Runs that bridge up to `gap` pages nobody asked for, where those are in the whole core too. */
function runsOver(
  memory: Pick<PhysicalMemory, "fileOffsetOf">,
  frames: readonly number[],
  gap: number,
): KeptRun[] {
  const runs: { address: number; offset: number; length: number }[] = [];
  for (const frame of frames) {
    const offset = memory.fileOffsetOf(frame);
    if (offset === null) continue;
    const address = frame * FRAME_BYTES;
    const last = runs.at(-1);
    const isNear = last !== undefined &&
      address - (last.address + last.length) <= gap * FRAME_BYTES &&
      offset - last.offset === address - last.address;
    if (isNear) last.length = address + FRAME_BYTES - last.address;
    else runs.push({ address, offset, length: FRAME_BYTES });
  }
  return runs;
}

function noteSegments(reader: ByteReader): Uint8Array[] {
  const first = Number(reader.u64(ELF64.program_headers.offset, "e_phoff"));
  const count = reader.u16(ELF64.program_header_count.offset, "e_phnum");
  const found: Uint8Array[] = [];
  let left = NOTE_LIMIT_BYTES;
  for (let index = 0; index < count; index++) {
    const header = first + index * PROGRAM_HEADER_BYTES;
    if (reader.u32(header, "p_type") !== SEGMENT_NOTE) continue;
    const length = Number(reader.u64(header + ELF64.segment_file_size.offset, "p_filesz"));
    left -= length;
    if (left < 0) throw badDump("read_limit", `The core claims more than ${NOTE_LIMIT_BYTES} bytes of notes`);
    const offset = Number(reader.u64(header + ELF64.segment_offset.offset, "p_offset"));
    const padded = new Uint8Array(Math.ceil(length / 4) * 4);
    padded.set(reader.bytes(offset, length, "the notes"));
    found.push(padded);
  }
  return found;
}

/** A core that is copied in part has no section headers. */
function clearSections(view: DataView): void {
  view.setBigUint64(ELF64.section_headers.offset, 0n, true);
  view.setUint16(0x3C, 0, true);
  view.setUint16(0x3E, 0, true);
}

function writeSegment(
  view: DataView,
  index: number,
  { type, offset, address, length }: { type: number; offset: number; address: number; length: number },
): void {
  const at = HEADER_BYTES + PROGRAM_HEADER_BYTES * index;
  view.setUint32(at, type, true);
  view.setBigUint64(at + 0x08, BigInt(offset), true);
  view.setBigUint64(at + 0x18, BigInt(address), true);
  view.setBigUint64(at + 0x20, BigInt(length), true);
  view.setBigUint64(at + 0x28, BigInt(length), true);
}
