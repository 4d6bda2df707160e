/** The streams of a minidump that an inspection tells about: system, exception, process, comment, counts. */

import type { ByteReader } from "../bytes.ts";
import type { MinidumpDirectory, StreamRange } from "./directory.ts";
import { readMinidumpString } from "./directory.ts";
import { EXCEPTION_STREAM, MISC_INFO, STREAM, SYSTEM_INFO } from "./layout.ts";

const ARCHITECTURES: ReadonlyMap<number, string> = new Map([
  [0, "x86"],
  [5, "arm"],
  [6, "ia64"],
  [9, "x64"],
  [12, "arm64"],
  [0x8003, "arm64"],
]);

const PLATFORMS: ReadonlyMap<number, string> = new Map([
  [1, "windows_9x"],
  [2, "windows"],
  [3, "windows_ce"],
  [0x8101, "macos"],
  [0x8102, "ios"],
  [0x8201, "linux"],
  [0x8202, "solaris"],
  [0x8203, "android"],
]);

/** SystemInfo stream. */
export interface MinidumpSystem {
  machine: string;
  processors: number;
  productType: number;
  /** `major.minor.build`. */
  version: string;
  build: number;
  platform: string;
  servicePack: string | null;
  suiteMask: number;
}

/** Reads the SystemInfo stream. */
export function readSystemInfo(reader: ByteReader, { offset }: StreamRange): MinidumpSystem {
  const architecture = reader.u16(
    offset + SYSTEM_INFO.processor_architecture.offset,
    "ProcessorArchitecture",
  );
  const platform = reader.u32(offset + SYSTEM_INFO.platform_id.offset, "PlatformId");
  const build = reader.u32(offset + SYSTEM_INFO.build_number.offset, "BuildNumber");
  const version = [
    reader.u32(offset + SYSTEM_INFO.major_version.offset, "MajorVersion"),
    reader.u32(offset + SYSTEM_INFO.minor_version.offset, "MinorVersion"),
    build,
  ];
  const servicePack = reader.u32(offset + SYSTEM_INFO.csd_version_rva.offset, "CSDVersionRva");
  return {
    machine: ARCHITECTURES.get(architecture) ?? `unknown(0x${architecture.toString(16)})`,
    processors: reader.u8(offset + SYSTEM_INFO.number_of_processors.offset, "NumberOfProcessors"),
    productType: reader.u8(offset + SYSTEM_INFO.product_type.offset, "ProductType"),
    version: version.join("."),
    build,
    platform: PLATFORMS.get(platform) ?? `unknown(0x${platform.toString(16)})`,
    servicePack: readMinidumpString(reader, servicePack, "CSDVersion"),
    suiteMask: reader.u16(offset + SYSTEM_INFO.suite_mask.offset, "SuiteMask"),
  };
}

/** Exception stream. */
export interface MinidumpException {
  threadId: number;
  /** A Windows exception code, or the signal number on other platforms. */
  code: number;
  address: bigint;
  parameters: bigint[];
}

const MAXIMUM_PARAMETERS = 15;

/** Reads the Exception stream; only as many parameters as it says it has. */
export function readException(reader: ByteReader, { offset }: StreamRange): MinidumpException {
  const count = reader.u32(offset + EXCEPTION_STREAM.number_parameters.offset, "NumberParameters");
  const parameters: bigint[] = [];
  for (let index = 0; index < Math.min(count, MAXIMUM_PARAMETERS); index++) {
    parameters.push(
      reader.u64(offset + EXCEPTION_STREAM.parameters.offset + index * 8, "ExceptionInformation"),
    );
  }
  return {
    threadId: reader.u32(offset + EXCEPTION_STREAM.thread_id.offset, "ThreadId"),
    code: reader.u32(offset + EXCEPTION_STREAM.code.offset, "ExceptionCode"),
    address: reader.u64(offset + EXCEPTION_STREAM.address.offset, "ExceptionAddress"),
    parameters,
  };
}

const MISC_HAS_PROCESS_ID = 1;
const MISC_HAS_TIMES = 2;

/** Process facts of the MiscInfo stream; null where its flags say that they were not collected. */
export function readMiscInfo(
  reader: ByteReader,
  { offset }: StreamRange,
): { processId: number | null; createTime: number | null } {
  const flags = reader.u32(offset + MISC_INFO.flags.offset, "Flags1");
  return {
    processId: flags & MISC_HAS_PROCESS_ID
      ? reader.u32(offset + MISC_INFO.process_id.offset, "ProcessId")
      : null,
    createTime: flags & MISC_HAS_TIMES
      ? reader.u32(offset + MISC_INFO.process_create_time.offset, "ProcessCreateTime")
      : null,
  };
}

/** The writer's comment, from either comment stream. */
export function readComment(reader: ByteReader, directory: MinidumpDirectory): string | null {
  const wide = directory.streams.get(STREAM.commentW);
  if (wide !== undefined) return reader.utf16(wide.offset, wide.size, "comment") || null;
  const narrow = directory.streams.get(STREAM.commentA);
  return narrow === undefined ? null : reader.ascii(narrow.offset, narrow.size, "comment") || null;
}

/** Number of elements that a list stream claims; null without the stream. */
export function readListCount(reader: ByteReader, range: StreamRange | undefined): number | null {
  return range === undefined || range.size < 4 ? null : reader.u32(range.offset, "list count");
}
