/** What a user-mode minidump tells without looking at its memory. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { ByteReader } from "../bytes.ts";
import { exceptionName } from "../exception_names.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { hex, hex32, hexPointer } from "../numbers.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { compareSizes } from "../sizes.ts";
import { unixToIso } from "../time.ts";
import { bitNames, productName, SUITE_BITS } from "../windows/meaning.ts";
import { windowsName } from "../windows/versions.ts";
import { type MinidumpDirectory, readMinidumpDirectory, type StreamRange } from "./directory.ts";
import { claimedEnd } from "./extent.ts";
import { STREAM } from "./layout.ts";
import { signalName } from "./signals.ts";
import {
  type MinidumpException,
  type MinidumpSystem,
  readComment,
  readException,
  readListCount,
  readMiscInfo,
  readSystemInfo,
} from "./streams.ts";

const FLAG_FULL_MEMORY = 2n;
/** Streams of crash reporters; the low word tells them apart, the high word the family. */
const PRODUCERS: readonly [family: number, producer: string][] = [[0x4767, "breakpad"], [0x4350, "crashpad"]];

/** Inspects a minidump. Fails as {@link readMinidumpDirectory}; damaged streams become warnings. */
export function inspectMinidump(reader: ByteReader, options: InspectOptions): DumpInspection {
  const warnings: DumpWarning[] = [];
  const directory = readMinidumpDirectory(reader, warnings);
  const read = <Part>(type: number, parse: (range: StreamRange) => Part): Part | null => {
    const range = directory.streams.get(type);
    return range === undefined ? null : readPart(warnings, () => parse(range));
  };
  const system = read(STREAM.systemInfo, (range) => readSystemInfo(reader, range));
  const exception = read(STREAM.exception, (range) => readException(reader, range));
  const misc = read(STREAM.miscInfo, (range) => readMiscInfo(reader, range));
  const counts = (type: number) => read(type, (range) => readListCount(reader, range));
  const comment = readPart(warnings, () => readComment(reader, directory));
  const end = readPart(warnings, () => claimedEnd(reader, directory, warnings)) ?? BigInt(directory.end);
  if (!directory.streams.has(STREAM.systemInfo)) {
    warnings.push({
      reason: "stream_missing",
      message: "No stream tells the system and processor of this dump",
    });
  }
  // A cut stream and the file's end are the same finding: one warning is enough.
  const sizes = compareSizes(end, reader.size, warnings.some(isTruncation) ? [] : warnings);
  return {
    path: options.path,
    os_version: versionOf(system),
    dump_kind: directory.flags & FLAG_FULL_MEMORY ? "minidump_full_memory" : "minidump",
    ...systemFields(system),
    time: unixToIso(directory.timeDateStamp),
    ...productFields(system),
    comment,
    producer: producerOf(directory),
    ...exceptionFields(exception, system),
    process_id: misc?.processId ?? null,
    process_started: misc === null || misc.createTime === null ? null : unixToIso(misc.createTime),
    minidump_flags: hex(directory.flags),
    streams: directory.streamCount,
    threads: counts(STREAM.threadList),
    modules: counts(STREAM.moduleList),
    ...sizes,
    warnings,
  };
}

function isTruncation(warning: DumpWarning): boolean {
  return warning.reason === "truncated";
}

function systemFields(system: MinidumpSystem | null): Partial<DumpInspection> {
  if (system === null) return { machine: null, processors: null };
  const windows = system.platform === "windows";
  const product = windows ? productName(system.productType) : null;
  return {
    ...(windows ? { os_name: windowsName(system.build, product), build: system.build } : {}),
    service_pack: system.servicePack,
    platform: system.platform,
    machine: system.machine,
    processors: system.processors,
  };
}

function productFields(system: MinidumpSystem | null): Partial<DumpInspection> {
  if (system?.platform !== "windows") return {};
  return { product: productName(system.productType), suite: bitNames(system.suiteMask, SUITE_BITS) };
}

/** Crash reporters on Linux leave the numbers zero and put the kernel's release into the service pack. */
function versionOf(system: MinidumpSystem | null): string | null {
  if (system === null) return null;
  if (system.version !== "0.0.0") return system.version;
  return /^Linux (\S+)/.exec(system.servicePack ?? "")?.[1] ?? null;
}

const ACCESS_VIOLATION = 0xC0000005;
const IN_PAGE_ERROR = 0xC0000006;
const FAULTS: ReadonlyMap<bigint, string> = new Map([[0n, "read"], [1n, "write"], [8n, "execute"]]);

/** Null fields say that no exception was recorded: the dump is a snapshot. */
function exceptionFields(
  exception: MinidumpException | null,
  system: MinidumpSystem | null,
): Partial<DumpInspection> {
  if (exception === null) {
    return { exception_code: null, exception_name: null, exception_address: null, thread_id: null };
  }
  const { code, parameters } = exception;
  const windows = system === null || system.platform === "windows";
  const [kind, address] = parameters;
  const bits = system?.machine === "x86" || system?.machine === "arm" ? 32 : 64;
  const pointer = (value: bigint) => hexPointer(value, bits);
  const faulted = windows && (code === ACCESS_VIOLATION || code === IN_PAGE_ERROR) && kind !== undefined;
  return {
    exception_code: hex32(code),
    exception_name: windows ? exceptionName(code) : signalName(system.platform, code),
    exception_address: pointer(exception.address),
    exception_parameters: parameters.map(pointer),
    ...(faulted ? { fault: FAULTS.get(kind) ?? `unknown(${hex(kind)})` } : {}),
    ...(faulted && address !== undefined ? { fault_address: pointer(address) } : {}),
    thread_id: exception.threadId,
  };
}

function producerOf(directory: MinidumpDirectory): string | null {
  for (const [family, producer] of PRODUCERS) {
    if ([...directory.streams.keys()].some((type) => type >>> 16 === family)) return producer;
  }
  return null;
}
