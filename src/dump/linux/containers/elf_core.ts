/** Physical memory out of an ELF core: QEMU's, or /proc/vmcore of a crash kernel. */

import { ByteReader, type ByteSource } from "../../bytes.ts";
import { at } from "../../layout.ts";
import type { Absence } from "../../memory/absence.ts";
import { PageCache } from "../../memory/page_cache.ts";
import { FRAME_BYTES, type PhysicalMemory } from "../../memory/physical.ts";
import { badDump, type DumpWarning } from "../../reasons.ts";
import { CORE_MACHINE_NAMES, CORE_MACHINES, machineOfElf } from "../architecture/core_machines.ts";
import { ELF64, isBigEndianElf } from "../elf.ts";
import type { LinuxCore, MemoryPiece } from "./core.ts";
import { type Note, readNotes } from "./notes.ts";
import { readAcrossFrames } from "./pages.ts";
import { readProcessors, vmcoreinfoOf } from "./processor_notes.ts";

const PROGRAM_HEADER = {
  type: at(0x00, 4, "elf-specification"),
  offset: at(0x08, 8, "elf-specification"),
  physical: at(0x18, 8, "elf-specification"),
  file_size: at(0x20, 8, "elf-specification"),
} as const;
const PROGRAM_HEADER_BYTES = 56;
const SEGMENT_LOAD = 1;
const SEGMENT_NOTE = 4;
const MANY_SEGMENTS = 0xFFFF;
const MAXIMUM_SEGMENTS = 2 ** 20;
const MAXIMUM_NOTE_BYTES = 16 * 1024 * 1024;
/** No processor has more. */
const PHYSICAL_LIMIT = 2 ** 52;
const KEPT_PAGES = 4096;
const PIECE_BYTES = 1024 * 1024;

/** A run of physical memory in the file; `length` is what is really there. */
interface Segment {
  readonly address: number;
  readonly length: number;
  readonly claimed: number;
  readonly offset: number;
}

/**
 * Opens an ELF core of an x86-64 or ARM64 machine. Fails with `hv.bad_dump`: `unsupported_kind` for other machines and for the
 * core of a process, `header_damaged` or `truncated` when the headers cannot be read.
 */
export function openElfCore(source: ByteSource): LinuxCore {
  const reader = new ByteReader(source, { what: "ELF core" });
  const number = isBigEndianElf(reader) ? 0 : reader.u16(ELF64.machine.offset, "e_machine");
  const machine = machineOfElf(number);
  if (reader.u8(4, "EI_CLASS") !== 2 || machine === undefined) {
    throw badDump(
      "unsupported_kind",
      `Cannot open the ELF core: its machine number is ${number}, only ${CORE_MACHINE_NAMES} are read`,
      { found: number, expected: CORE_MACHINES.map(({ elfNumber }) => elfNumber) },
      "Run `hvlab dump inspect` for what its header tells",
    );
  }
  const { segments, notes } = readSegments(reader, source);
  const processors = readProcessors(notes, machine);
  const vmcoreinfo = vmcoreinfoOf(notes);
  if (vmcoreinfo === null && notes.some(({ name, type }) => name === "CORE" && type === NOTE_PROCESS)) {
    throw badDump(
      "unsupported_kind",
      "Cannot open the ELF core: it is of one process, only cores of whole machines are read",
      { found: "process" },
      "Open it with a debugger, together with the program that it is of",
    );
  }
  return {
    kind: "elf_core",
    machine,
    physical: new ElfMemory(source, segments),
    processors,
    vmcoreinfo,
    pieces: () => piecesOf(source, segments),
    warnings: missingTail(segments),
  };
}

const NOTE_PROCESS = 3;

function readSegments(reader: ByteReader, source: ByteSource): { segments: Segment[]; notes: Note[] } {
  const first = Number(reader.u64(ELF64.program_headers.offset, "e_phoff"));
  const stride = reader.u16(ELF64.program_header_size.offset, "e_phentsize");
  let count = reader.u16(ELF64.program_header_count.offset, "e_phnum");
  if (count === MANY_SEGMENTS) {
    const sections = Number(reader.u64(ELF64.section_headers.offset, "e_shoff"));
    count = reader.u32(sections + ELF64.section_info.offset, "sh_info");
  }
  if (stride !== PROGRAM_HEADER_BYTES || count > MAXIMUM_SEGMENTS) {
    throw badDump(
      "header_damaged",
      `Cannot open the ELF core: it claims ${count} program headers of ${stride} bytes`,
      { expected: PROGRAM_HEADER_BYTES, found: stride },
    );
  }
  const segments: Segment[] = [];
  const notes: Note[] = [];
  // Segments may lie over each other, so that a small file can claim notes without end.
  let noteBytes = MAXIMUM_NOTE_BYTES;
  for (let index = 0; index < count; index++) {
    const header = first + index * stride;
    const type = reader.u32(header + PROGRAM_HEADER.type.offset, "p_type");
    const offset = Number(reader.u64(header + PROGRAM_HEADER.offset.offset, "p_offset"));
    const claimed = Number(reader.u64(header + PROGRAM_HEADER.file_size.offset, "p_filesz"));
    const length = Math.max(0, Math.min(claimed, source.size - offset));
    if (type === SEGMENT_NOTE) {
      const bytes = source.read(offset, Math.min(length, noteBytes));
      noteBytes -= bytes.length;
      notes.push(...readNotes(bytes));
    }
    if (type !== SEGMENT_LOAD) continue;
    const address = Number(reader.u64(header + PROGRAM_HEADER.physical.offset, "p_paddr"));
    const room = Math.min(claimed, PHYSICAL_LIMIT - address);
    if (room > 0) segments.push({ address, length: Math.min(length, room), claimed: room, offset });
  }
  return { segments: segments.sort((a, b) => a.address - b.address), notes };
}

function missingTail(segments: readonly Segment[]): DumpWarning[] {
  const missing = segments.reduce((sum, { claimed, length }) => sum + (claimed - length), 0);
  return missing === 0 ? [] : [{
    reason: "truncated",
    message: `${missing} bytes of memory that the headers list lie behind the end of the file`,
  }];
}

/** Whole pages of the segments, the highest address first; of segments that overlap, no more than the file's size. */
function* piecesOf(source: ByteSource, segments: readonly Segment[]): Iterable<MemoryPiece> {
  let left = source.size;
  for (let index = segments.length - 1; index >= 0; index--) {
    const segment = segments[index];
    if (segment === undefined) continue;
    const start = Math.ceil(segment.address / FRAME_BYTES) * FRAME_BYTES;
    const end = Math.floor((segment.address + segment.length) / FRAME_BYTES) * FRAME_BYTES;
    for (let top = end; top > start && left > 0;) {
      const address = Math.max(start, top - PIECE_BYTES);
      left -= top - address;
      yield { address, bytes: source.read(segment.offset + address - segment.address, top - address) };
      top = address;
    }
  }
}

class ElfMemory implements PhysicalMemory {
  readonly #source: ByteSource;
  readonly #segments: readonly Segment[];
  readonly #pages = new PageCache(KEPT_PAGES);

  constructor(source: ByteSource, segments: readonly Segment[]) {
    this.#source = source;
    this.#segments = segments;
  }

  get pageCount(): number {
    return this.#segments.reduce((sum, { length }) => sum + Math.floor(length / FRAME_BYTES), 0);
  }

  page(frame: number): Uint8Array | Absence {
    const kept = this.#pages.get(frame);
    if (kept !== undefined) return kept;
    const segment = this.#segmentOf(frame);
    if (segment === undefined) return { why: "not_in_dump", frame };
    const inside = frame * FRAME_BYTES - segment.address;
    const page = inside + FRAME_BYTES <= segment.length
      ? this.#source.read(segment.offset + inside, FRAME_BYTES)
      : new Uint8Array(0);
    if (page.length < FRAME_BYTES) return { why: "truncated", frame };
    this.#pages.set(frame, page);
    return page;
  }

  fileOffsetOf(frame: number): number | null {
    const segment = this.#segmentOf(frame);
    return segment === undefined ? null : segment.offset + frame * FRAME_BYTES - segment.address;
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    return readAcrossFrames(this, address, length);
  }

  /** The last segment that begins at or below the page, when the page lies in it. */
  #segmentOf(frame: number): Segment | undefined {
    const address = frame * FRAME_BYTES;
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#segments[middle]?.address ?? Infinity) <= address) low = middle + 1;
      else high = middle;
    }
    const segment = this.#segments[low - 1];
    return segment !== undefined && address + FRAME_BYTES <= segment.address + segment.claimed
      ? segment
      : undefined;
  }
}
