/**
 * A machine that QEMU takes for Windows: a disk whose boot sector loads the memory of a written machine, goes into long
 * mode, and publishes a dump header as the drivers of virtio-win do. QEMU then writes the Windows format for real. No
 * line of Windows is in it.
 */

import { DumpBytes } from "./dump_writer.ts";
import { machineHeader } from "./machine_dump.ts";
import type { MachineMemory } from "./machine_memory.ts";

/** `windows_guest/boot.s`, assembled: `as --64`, `ld -Ttext=0x7c00 --oformat binary`. */
const BOOT = Uint8Array.fromHex(
  "fa31c08ed88ec08ed0bc007cfbbe1e7cb442cd137205ea00800000f4ebfd1000080000800000010000000000" +
    "0000",
);

/** `windows_guest/stage.s`, assembled for 0x8000. */
const STAGE = Uint8Array.fromHex(
  "be0088803c00740fb442cd13720583c610ebf0faf4ebfcfae4920c02e6920f20e06683c8200f22e066b80090" +
    "00000f22d866b9800000c00f32660d000100000f30660f011678800f20c0660d010000800f22c066ea7e8000" +
    "0008000f1f440000000000000000000000000000009a20000000000000920000170060800000b8100000008e" +
    "d88ec08ed0bc007c0000fc66ba100566b8190066ef66ba1105bf00c00000b904000000f36cbf00c00000b940" +
    "000000f36cbe08c00000bf80c00000b90f000000f3a675e1668b042504c000006689042500c1000066ba1405" +
    "31c0ef66ba1805b800c100000fc8ef66baf803b050ee48b8010000000000495748bb0200000000004957faf4" +
    "ebfc",
);

const PAGE = 4096;
const SECTOR = 512;
const SECTORS = PAGE / SECTOR;
/** Pages below the machine's own: code, page tables of the way there, what fw_cfg is told, and the note. */
const FRAMES = { stage: 8, tables: 9, words: 0xC, note: 0xD } as const;
/** Where the second stage finds its reads. */
const READS = 0x800;
const NAME = 0x80;
const ACCESS = 0x100;
const INFORMATION = 0x200;
const NOTE_HEAD = 24;
/** A disk smaller than that has no geometry that a BIOS would boot from. */
const DISK_BYTES = 1024 * 1024;

/** The guest's disk, raw. The memory is of a 64-bit machine, and lies below 640 KiB. */
export function windowsGuestDisk(memory: MachineMemory): Uint8Array<ArrayBuffer> {
  const note = noteOf(memory);
  const pages = new Map([...memory.pages].map(([frame, { bytes }]) => [frame, bytes] as const));
  pages.set(FRAMES.words, words(note.bytes.length));
  tables().forEach((table, index) => pages.set(FRAMES.tables + index, table));
  for (let at = 0; at < note.bytes.length; at += PAGE) {
    const page = new Uint8Array(PAGE);
    page.set(note.bytes.subarray(at, at + PAGE));
    pages.set(FRAMES.note + at / PAGE, page);
  }
  const stage = new DumpBytes(PAGE);
  stage.bytes.set(STAGE);
  const disk = new DumpBytes(DISK_BYTES).u16(510, 0xAA55);
  disk.bytes.set(BOOT);
  let sector = 1 + SECTORS;
  [...pages].forEach(([frame, bytes], index) => {
    disk.bytes.set(bytes, sector * SECTOR);
    stage.u16(READS + index * 16, 16, SECTORS, 0, frame * (PAGE / 16)).u64(
      READS + index * 16 + 8,
      BigInt(sector),
    );
    sector += SECTORS;
  });
  disk.bytes.set(stage.bytes, SECTOR);
  return disk.bytes;
}

/** The dump header as an ELF note, which QEMU copies out of the guest. */
function noteOf(memory: MachineMemory): DumpBytes {
  const header = machineHeader(memory, 1);
  const runs = memory.runs();
  const total = runs.reduce((sum, [, count]) => sum + count, 0n);
  header.u32(0x88, runs.length).u64(0x90, total).u64(0x98, ...runs.flat());
  const note = new DumpBytes(NOTE_HEAD + header.bytes.length)
    .u32(0, "VMCOREINFO\0".length, header.bytes.length, 0)
    .text(12, "VMCOREINFO");
  note.bytes.set(header.bytes, NOTE_HEAD);
  return note;
}

/** The file's name, the access that writes it (key to come), and what is written: an ELF note, so long, there. */
function words(noteBytes: number): Uint8Array<ArrayBuffer> {
  const page = new DumpBytes(PAGE)
    .text(NAME, "etc/vmcoreinfo")
    .u8(ACCESS + 3, 0x18)
    .u16(INFORMATION, 0, 1)
    .u32(INFORMATION + 4, noteBytes)
    .u64(INFORMATION + 8, BigInt(FRAMES.note * PAGE));
  const view = new DataView(page.bytes.buffer);
  view.setUint32(ACCESS + 4, 16);
  view.setBigUint64(ACCESS + 8, BigInt(FRAMES.words * PAGE + INFORMATION));
  return page.bytes;
}

/** Tables that map the first gibibyte onto itself. */
function tables(): Uint8Array<ArrayBuffer>[] {
  const root = new DumpBytes(PAGE).u64(0, BigInt((FRAMES.tables + 1) * PAGE) | 3n);
  const upper = new DumpBytes(PAGE).u64(0, BigInt((FRAMES.tables + 2) * PAGE) | 3n);
  const lower = new DumpBytes(PAGE);
  for (let index = 0; index < 512; index++) lower.u64(index * 8, (BigInt(index) << 21n) | 0x83n);
  return [root.bytes, upper.bytes, lower.bytes];
}
