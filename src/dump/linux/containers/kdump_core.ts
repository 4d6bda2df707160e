/** Physical memory out of a kdump-compressed file: two bitmaps, a descriptor for each page, packed pages. */

import { ByteReader, type ByteSource } from "../../bytes.ts";
import { at } from "../../layout.ts";
import { badDump, type DumpWarning } from "../../reasons.ts";
import type { CoreMachine } from "../architecture/core_machine.ts";
import { CORE_MACHINE_NAMES, machineNamed, machineOfNote } from "../architecture/core_machines.ts";
import { X64_MACHINE } from "../architecture/x64_registers.ts";
import { KDUMP_HEADER, readKdumpHeader } from "../kdump.ts";
import type { LinuxCore } from "./core.ts";
import { openFlattened } from "./flattened.ts";
import { KdumpMemory } from "./kdump_memory.ts";
import { type Note, readNotes } from "./notes.ts";
import { type HostCodecs, pageCodecs } from "./page_codecs.ts";
import { PageRanks } from "./page_ranks.ts";
import { isRegisterNote, readProcessors, vmcoreinfoOf } from "./processor_notes.ts";

const SIZES = {
  sub_header_blocks: at(432, 4, "makedumpfile"),
  bitmap_blocks: at(436, 4, "makedumpfile"),
} as const;
/** The block behind the header; fields came with versions. */
const SUB_HEADER = {
  split: at(12, 4, "makedumpfile"),
  first_page: at(16, 8, "makedumpfile"),
  end_page: at(24, 8, "makedumpfile"),
  offset_vmcoreinfo: at(32, 8, "makedumpfile"),
  size_vmcoreinfo: at(40, 8, "makedumpfile"),
  offset_notes: at(48, 8, "makedumpfile"),
  size_notes: at(56, 8, "makedumpfile"),
  max_mapnr_64: at(96, 8, "makedumpfile"),
} as const;
const VERSION_OF = { split: 2, vmcoreinfo: 3, notes: 4, max_mapnr_64: 6 } as const;
/** Those of x86-64 and of ARM64; QEMU takes the largest page that the processor can have. */
const BLOCK_SIZES: readonly number[] = [4096, 16_384, 65_536];
const MAXIMUM_SUB_HEADER_BLOCKS = 2 ** 16;
const MAXIMUM_BITMAP_BLOCKS = 2 ** 22;
const MAXIMUM_BITMAP_BYTES = 64 * 1024 * 1024;
const MAXIMUM_VMCOREINFO_BYTES = 2 ** 20;
const MAXIMUM_NOTE_BYTES = 16 * 1024 * 1024;

/**
 * Opens a kdump-compressed file, plain or flattened, of an x86-64 or ARM64 machine. Fails with `hv.bad_dump`: `unsupported_kind`
 * for other machines, other block sizes and single parts of a split dump, `header_damaged`, `bitmap_size`, `truncated`.
 */
export function openKdumpCore(file: ByteSource, flattened: boolean, host: HostCodecs): LinuxCore {
  const warnings: DumpWarning[] = [];
  const source = flattened ? unwrap(file, warnings) : file;
  const reader = new ByteReader(source, { what: "kdump" });
  const { version, blockSize, machine: name } = readKdumpHeader(reader);
  if (name !== null && machineNamed(name) === undefined) {
    throw unsupported(`it is of a ${name} machine, only ${CORE_MACHINE_NAMES} are read`);
  }
  if (!BLOCK_SIZES.includes(blockSize)) {
    throw unsupported(`its blocks have ${blockSize} bytes, only ${BLOCK_SIZES.join(", ")} are read`);
  }
  const subHeaderBlocks = reader.u32(SIZES.sub_header_blocks.offset, "sub_hdr_size");
  const bitmapBlocks = reader.u32(SIZES.bitmap_blocks.offset, "bitmap_blocks");
  if (
    subHeaderBlocks === 0 || subHeaderBlocks > MAXIMUM_SUB_HEADER_BLOCKS ||
    bitmapBlocks > MAXIMUM_BITMAP_BLOCKS
  ) {
    throw badDump("header_damaged", "Cannot open the kdump: its header claims impossible sizes", {
      sub_header_blocks: subHeaderBlocks,
      bitmap_blocks: bitmapBlocks,
    });
  }
  const sub = blockSize;
  if (version >= VERSION_OF.split && reader.u32(sub + SUB_HEADER.split.offset, "split") !== 0) {
    const [first, end] = [SUB_HEADER.first_page, SUB_HEADER.end_page].map(({ offset }) =>
      reader.u64(sub + offset, "split page")
    );
    throw unsupported(
      `it is one part of a split dump and holds pages ${first} to ${end} only`,
      "Join the parts with: makedumpfile --reassemble",
    );
  }
  const part = (offset: { offset: number }, size: { offset: number }, limit: number, since: number) => {
    if (version < since) return new Uint8Array(0);
    const start = Number(reader.u64(sub + offset.offset, "offset"));
    return start === 0
      ? new Uint8Array(0)
      : source.read(start, Math.min(limit, Number(reader.u64(sub + size.offset, "size"))));
  };
  const notes = readNotes(
    part(SUB_HEADER.offset_notes, SUB_HEADER.size_notes, MAXIMUM_NOTE_BYTES, VERSION_OF.notes),
  );
  const info = part(
    SUB_HEADER.offset_vmcoreinfo,
    SUB_HEADER.size_vmcoreinfo,
    MAXIMUM_VMCOREINFO_BYTES,
    VERSION_OF.vmcoreinfo,
  );
  const lastPage = version >= VERSION_OF.max_mapnr_64
    ? Number(reader.u64(sub + SUB_HEADER.max_mapnr_64.offset, "max_mapnr_64"))
    : reader.u32(KDUMP_HEADER.max_mapnr.offset, "max_mapnr");
  const bitmaps = { start: (1 + subHeaderBlocks) * blockSize, bytes: bitmapBlocks * blockSize };
  const pages = {
    bytes: blockSize,
    ranks: readRanks(source, bitmaps, lastPage, warnings),
    descriptors: bitmaps.start + bitmaps.bytes,
  };
  const physical = new KdumpMemory(source, pages, pageCodecs(host), warnings);
  const machine = machineOf(name, notes);
  return {
    kind: flattened ? "kdump_flattened" : "kdump",
    machine,
    physical,
    processors: readProcessors(notes, machine),
    vmcoreinfo: info.length > 0 ? new TextDecoder("latin1").decode(info) : vmcoreinfoOf(notes),
    pieces: () => physical.pieces(),
    warnings,
  };
}

/** QEMU leaves the machine's name empty; then the size of a processor's note tells. */
function machineOf(name: string | null, notes: readonly Note[]): CoreMachine {
  const named = name === null ? undefined : machineNamed(name);
  return named ?? machineOfNote(notes.find(isRegisterNote)?.data.length ?? 0) ?? X64_MACHINE;
}

function unwrap(file: ByteSource, warnings: DumpWarning[]): ByteSource {
  const inner = openFlattened(file);
  if (inner.cut) {
    warnings.push({
      reason: "truncated",
      message: "The flattened kdump ends without its end mark: pages behind it are lost",
      offset: file.size,
    });
  }
  return inner;
}

/** The second half of the bitmaps says which pages are in the file. */
function readRanks(
  source: ByteSource,
  bitmaps: { readonly start: number; readonly bytes: number },
  lastPage: number,
  warnings: DumpWarning[],
): PageRanks {
  const half = Math.floor(bitmaps.bytes / 2);
  const wanted = Math.ceil(lastPage / 8);
  if (wanted > half || wanted > MAXIMUM_BITMAP_BYTES) {
    throw badDump(
      "bitmap_size",
      `Cannot open the kdump: a bitmap of ${half} bytes does not hold ${lastPage} pages`,
      {
        expected: wanted,
        found: half,
      },
    );
  }
  const bitmap = source.read(bitmaps.start + half, wanted);
  if (bitmap.length < wanted) {
    warnings.push({
      reason: "truncated",
      message: `The bitmap of pages has ${bitmap.length} of ${wanted} bytes`,
      expected: wanted,
      actual: bitmap.length,
    });
  }
  return new PageRanks(bitmap);
}

function unsupported(what: string, hint = "Run `hvlab dump inspect` for what its header tells"): Error {
  return badDump("unsupported_kind", `Cannot open the kdump: ${what}`, {}, hint);
}
