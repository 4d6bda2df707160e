import assert from "node:assert/strict";
import { ByteReader, MemorySource } from "../../../../src/dump/bytes.ts";
import { readHeaderContext, readKernelHeader } from "../../../../src/dump/windows/header.ts";
import { HEADER32, HEADER64 } from "../../../../src/dump/windows/header_layout.ts";
import { DumpBytes } from "../../../support/dump_writer.ts";

Deno.test("every field of the 64-bit header has its place", () => {
  const { bytes } = new DumpBytes(0x2000, "\xAA")
    .text(0, "PAGEDU64")
    .u32(8, 101, 102)
    .u64(0x10, 103n, 104n, 105n, 106n)
    .u32(0x30, 107, 108, 109)
    .u64(0x40, 110n, 111n, 112n, 113n)
    .text(0x60, "user version\0")
    .u64(0x80, 114n)
    .u32(0xF00, 115, 116)
    .u64(0xF10, 117n)
    .u32(0xF18, 2)
    .u64(0xF20, 118n, 119n)
    .u32(0xF98, 120)
    .u64(0xFA0, 121n, 122n)
    .text(0xFB0, "comment\0")
    .u64(0x1030, 123n)
    .u32(0x1038, 124, 125, 126, 127, 128)
    .u8(0x104D, 129)
    .u32(0x1050, 130, 131);
  assert.deepEqual(readKernelHeader(new ByteReader(new MemorySource(bytes)), HEADER64), {
    bits: 64,
    size: 0x2000,
    majorVersion: 101,
    minorVersion: 102,
    directoryTableBase: 103n,
    pfnDataBase: 104n,
    psLoadedModuleList: 105n,
    psActiveProcessHead: 106n,
    machineImageType: 107,
    numberProcessors: 108,
    bugCheckCode: 109,
    bugCheckParameters: [110n, 111n, 112n, 113n],
    versionUser: "user version",
    paeEnabled: null,
    kdSecondaryVersion: 129,
    kdDebuggerDataBlock: 114n,
    exception: { code: 115, flags: 116, address: 117n, parameters: [118n, 119n] },
    comment: "comment",
    attributes: 130,
    bootId: 131,
    dumpType: 120,
    miniDumpFields: 124,
    secondaryDataState: 125,
    productType: 126,
    suiteMask: 127,
    writerStatus: 128,
    requiredDumpSpace: 121n,
    systemUpTime: 123n,
    systemTime: 122n,
  });
});

Deno.test("every field of the 32-bit header has its place", () => {
  const { bytes } = new DumpBytes(0x1000, "\xAA")
    .text(0, "PAGEDUMP")
    .u32(8, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113)
    .text(0x3C, "user version\0")
    .u8(0x5C, 1)
    .u8(0x5D, 129)
    .u32(0x60, 114)
    .u32(0x7D0, 115, 116)
    .u32(0x7DC, 117, 2, 118, 119)
    .text(0x820, "comment\0")
    .u32(0x8A0, 130, 131)
    .u32(0xF88, 120, 124, 125, 126, 127, 128)
    .u64(0xFA0, 121n)
    .u64(0xFB8, 123n, 122n);
  assert.deepEqual(readKernelHeader(new ByteReader(new MemorySource(bytes)), HEADER32), {
    bits: 32,
    size: 0x1000,
    majorVersion: 101,
    minorVersion: 102,
    directoryTableBase: 103n,
    pfnDataBase: 104n,
    psLoadedModuleList: 105n,
    psActiveProcessHead: 106n,
    machineImageType: 107,
    numberProcessors: 108,
    bugCheckCode: 109,
    bugCheckParameters: [110n, 111n, 112n, 113n],
    versionUser: "user version",
    paeEnabled: 1,
    kdSecondaryVersion: 129,
    kdDebuggerDataBlock: 114n,
    exception: { code: 115, flags: 116, address: 117n, parameters: [118n, 119n] },
    comment: "comment",
    attributes: 130,
    bootId: 131,
    dumpType: 120,
    miniDumpFields: 124,
    secondaryDataState: 125,
    productType: 126,
    suiteMask: 127,
    writerStatus: 128,
    requiredDumpSpace: 121n,
    systemUpTime: 123n,
    systemTime: 122n,
  });
});

Deno.test("the context of each machine is read where its flags prove it", () => {
  const arm64 = new DumpBytes(0x2000).u32(0x348, 0x400007).u64(0x348 + 0x100, 1n, 2n);
  const reader = new ByteReader(new MemorySource(arm64.bytes));
  assert.deepEqual(readHeaderContext(reader, HEADER64, "arm64"), { stackPointer: 1n, programCounter: 2n });
  assert.equal(readHeaderContext(reader, HEADER64, "x64"), null);
  assert.equal(readHeaderContext(reader, HEADER64, "ia64"), null);
  assert.equal(readHeaderContext(reader, HEADER64, null), null);
});
