/** ELF cores: of a whole machine (QEMU, a crash kernel, VirtualBox) or of one process. */

import type { ByteReader } from "../bytes.ts";
import { at } from "../layout.ts";
import { badDump } from "../reasons.ts";
import { ORIGIN_NOTE, readOriginNote } from "./reduction/origin_note.ts";

/** What an ELF core's headers and notes say. */
export interface ElfCore {
  bits: 32 | 64;
  machine: string;
  /** Whose memory it is; null when no note tells. */
  coreOf: "machine" | "process" | null;
  /** Register notes: one for each processor of a machine, one for each thread of a process. */
  registerSets: number;
  /** `qemu`, `virtualbox`, or null. */
  producer: string | null;
  /** Kernel release (`OSRELEASE` of VMCOREINFO). */
  release: string | null;
  /** Build id of the kernel (`BUILD-ID` of VMCOREINFO). */
  buildId: string | null;
  /** Unix time of the crash (`CRASHTIME` of VMCOREINFO). */
  crashTime: number | null;
  /** Bytes of memory that the segments hold. */
  memory: bigint;
  /** Of a core that we have reduced, bytes of memory that the whole one held; null for all others. */
  reducedFrom: bigint | null;
  /** Highest end of the segments in the file. */
  end: bigint;
}

/** ELF header, class 64 and 32: only what is needed to find the program headers. */
export const ELF64 = {
  machine: at(0x12, 2, "elf-specification"),
  program_headers: at(0x20, 8, "elf-specification"),
  section_headers: at(0x28, 8, "elf-specification"),
  program_header_size: at(0x36, 2, "elf-specification"),
  program_header_count: at(0x38, 2, "elf-specification"),
  section_info: at(0x2C, 4, "elf-specification"),
  segment_offset: at(0x08, 8, "elf-specification"),
  segment_file_size: at(0x20, 8, "elf-specification"),
} as const;
export const ELF32 = {
  machine: at(0x12, 2, "elf-specification"),
  program_headers: at(0x1C, 4, "elf-specification"),
  section_headers: at(0x20, 4, "elf-specification"),
  program_header_size: at(0x2A, 2, "elf-specification"),
  program_header_count: at(0x2C, 2, "elf-specification"),
  section_info: at(0x1C, 4, "elf-specification"),
  segment_offset: at(0x04, 4, "elf-specification"),
  segment_file_size: at(0x10, 4, "elf-specification"),
} as const;

const MACHINES: ReadonlyMap<number, string> = new Map([
  [3, "x86"],
  [21, "ppc64"],
  [22, "s390x"],
  [40, "arm"],
  [62, "x64"],
  [183, "arm64"],
  [243, "riscv"],
  [258, "loongarch"],
]);

const SEGMENT_LOAD = 1;
const SEGMENT_NOTE = 4;
/** The count does not fit into the header; it stands in the first section header. */
const MANY_SEGMENTS = 0xFFFF;
const MAXIMUM_SEGMENTS = 4096;
/** Over all segments: each note may cost one read. */
const MAXIMUM_NOTES = 1024;
const PROGRAM_HEADER_BYTES = { 64: 56, 32: 32 } as const;
const MAXIMUM_VMCOREINFO_BYTES = 16_384;
const NOTE_REGISTERS = 1;
const NOTE_PROCESS = 3;

/** Byte order of an ELF file, from its identification. */
export function isBigEndianElf(reader: ByteReader): boolean {
  return reader.u8(5, "EI_DATA") === 2;
}

/** Reads headers and notes; the reader must have the file's byte order. Fails when headers are cut. */
export function readElfCore(reader: ByteReader): ElfCore {
  const bits = reader.u8(4, "EI_CLASS") === 1 ? 32 : 64;
  const layout = bits === 64 ? ELF64 : ELF32;
  const word = (offset: number, field: string) =>
    bits === 64 ? reader.u64(offset, field) : BigInt(reader.u32(offset, field));
  const machine = reader.u16(layout.machine.offset, "e_machine");
  const core: ElfCore = {
    bits,
    machine: MACHINES.get(machine) ?? `unknown(0x${machine.toString(16)})`,
    coreOf: null,
    registerSets: 0,
    producer: null,
    release: null,
    buildId: null,
    crashTime: null,
    memory: 0n,
    reducedFrom: null,
    end: 0n,
  };
  const first = Number(word(layout.program_headers.offset, "e_phoff"));
  const stride = reader.u16(layout.program_header_size.offset, "e_phentsize");
  if (stride !== PROGRAM_HEADER_BYTES[bits]) {
    throw badDump(
      "header_damaged",
      `Cannot read the ELF core: its program headers have ${stride} bytes, not ${PROGRAM_HEADER_BYTES[bits]}`,
      { offset: layout.program_header_size.offset, expected: PROGRAM_HEADER_BYTES[bits], found: stride },
    );
  }
  let count = reader.u16(layout.program_header_count.offset, "e_phnum");
  if (count === MANY_SEGMENTS) {
    const sections = Number(word(layout.section_headers.offset, "e_shoff"));
    count = reader.u32(sections + layout.section_info.offset, "sh_info");
  }
  let notesLeft = MAXIMUM_NOTES;
  for (let index = 0; index < Math.min(count, MAXIMUM_SEGMENTS); index++) {
    const segment = first + index * stride;
    const type = reader.u32(segment, "p_type");
    const offset = word(segment + layout.segment_offset.offset, "p_offset");
    const size = word(segment + layout.segment_file_size.offset, "p_filesz");
    if (offset + size > core.end) core.end = offset + size;
    if (type === SEGMENT_LOAD) core.memory += size;
    if (type === SEGMENT_NOTE) notesLeft -= readNotes(reader, Number(offset), Number(size), notesLeft, core);
  }
  return core;
}

/** Reads at most `limit` notes into `core` and gives their number; ends at the first damaged one. */
function readNotes(reader: ByteReader, start: number, size: number, limit: number, core: ElfCore): number {
  let offset = start;
  let count = 0;
  while (count < limit && offset + 12 <= start + size && reader.has(offset, 12)) {
    count++;
    const nameSize = reader.u32(offset, "n_namesz");
    const dataSize = reader.u32(offset + 4, "n_descsz");
    const type = reader.u32(offset + 8, "n_type");
    const data = offset + 12 + align4(nameSize);
    if (!reader.has(offset + 12, nameSize) || !reader.has(data, dataSize)) break;
    const name = reader.ascii(offset + 12, Math.min(nameSize, 32), "note name");
    if (name === "CORE" && type === NOTE_REGISTERS) core.registerSets++;
    if (name === "CORE" && type === NOTE_PROCESS) core.coreOf ??= "process";
    if (name === "QEMU") markMachine(core, "qemu");
    if (name === "VBCORE" || name === "VBCPU") markMachine(core, "virtualbox");
    if (name === "VMCOREINFO") {
      markMachine(core, core.producer);
      readVmcoreinfo(reader, data, dataSize, core);
    }
    if (name === ORIGIN_NOTE) {
      markMachine(core, core.producer);
      core.reducedFrom = readOriginNote(reader.ascii(data, dataSize, "our own note"));
    }
    offset = data + align4(dataSize);
  }
  return count;
}

function markMachine(core: ElfCore, producer: string | null): void {
  core.coreOf = "machine";
  core.producer = producer;
}

function readVmcoreinfo(reader: ByteReader, offset: number, size: number, core: ElfCore): void {
  const bytes = reader.bytes(offset, Math.min(size, MAXIMUM_VMCOREINFO_BYTES), "VMCOREINFO");
  const { release, buildId, crashTime } = readIdentity(new TextDecoder("latin1").decode(bytes));
  core.release = release;
  core.buildId = buildId;
  core.crashTime = crashTime;
}

/** What VMCOREINFO says of the kernel itself. */
export function readIdentity(vmcoreinfo: string): Pick<ElfCore, "release" | "buildId" | "crashTime"> {
  const crashTime = /^CRASHTIME=(\d{1,12})$/m.exec(vmcoreinfo)?.[1];
  return {
    release: /^OSRELEASE=([\x21-\x7E]{1,128})$/m.exec(vmcoreinfo)?.[1] ?? null,
    buildId: /^BUILD-ID=([0-9a-f]{8,64})$/m.exec(vmcoreinfo)?.[1] ?? null,
    crashTime: crashTime === undefined ? null : Number(crashTime),
  };
}

function align4(size: number): number {
  return Math.ceil(size / 4) * 4;
}
