/** What the header of a kernel dump tells, in the order and words of the contract. */

import type { BugcheckArgument, DumpInspection } from "../../contract/dump.ts";
import { describeArguments, describeBugcheck, findBugcheck } from "../bugchecks/catalogue.ts";
import type { ByteReader } from "../bytes.ts";
import { exceptionName } from "../exception_names.ts";
import type { InspectOptions } from "../inspect_options.ts";
import { hex32, hex64, hexPointer, jsonCount } from "../numbers.ts";
import type { DumpWarning } from "../reasons.ts";
import type { SizeFields } from "../sizes.ts";
import { filetimeToIso } from "../time.ts";
import { type KernelBody, readKernelBody } from "./body.ts";
import { holeFields, isEncrypted, kernelSizes, warnOfHeader } from "./checks.ts";
import { type KernelHeader, readHeaderContext, readKernelHeader } from "./header.ts";
import type { HeaderLayout } from "./header_layout.ts";
import {
  ATTRIBUTE,
  ATTRIBUTE_BITS,
  bitNames,
  buildKind,
  hasAttribute,
  machineName,
  productName,
  SUITE_BITS,
  TRIAGE_PART_BITS,
} from "./meaning.ts";
import { DUMPIT_CODE, producerOf, writerLastLine } from "./producer.ts";
import { PAGE_BYTES } from "./runs.ts";
import { buildNumber, windowsName, windowsVersion } from "./versions.ts";

/** Runs that an inspection lists; the rest is in `run_count`. */
const LISTED_RUNS = 42;
const TICKS_PER_SECOND = 10_000_000;

/** Inspects a kernel dump whose signature has been seen. Damage of the body becomes warnings. */
export async function inspectKernelDump(
  reader: ByteReader,
  layout: HeaderLayout,
  options: InspectOptions,
): Promise<DumpInspection> {
  const warnings: DumpWarning[] = [];
  const header = readKernelHeader(reader, layout);
  const body = readKernelBody(reader, layout, header, warnings);
  const machine = machineName(header.machineImageType);
  const product = productName(header.productType);
  const build = buildNumber(header.minorVersion);
  const pointer = (value: bigint | null) => value === null ? null : hexPointer(value, layout.bits);
  const context = readHeaderContext(reader, layout, machine);
  const sizes = kernelSizes(reader, layout, body, warnings);
  const holes = holeFields(body, options, reader.size, warnings);
  warnOfHeader(header, layout, warnings);
  return {
    path: options.path,
    os_version: windowsVersion(build),
    dump_kind: body.kind,
    ...await bugcheckFields(header, options, pointer),
    os_name: windowsName(build, product),
    build,
    build_kind: buildKind(header.majorVersion),
    machine,
    processors: header.numberProcessors,
    time: header.systemTime === null ? null : filetimeToIso(header.systemTime),
    uptime_s: header.systemUpTime === null ? null : Number(header.systemUpTime) / TICKS_PER_SECOND,
    product,
    suite: header.suiteMask === null ? null : bitNames(header.suiteMask, SUITE_BITS),
    attributes: header.attributes === null ? null : bitNames(header.attributes, ATTRIBUTE_BITS),
    live: isLive(header, options) || hasAttribute(header.attributes, ATTRIBUTE.live),
    encrypted: isEncrypted(header),
    comment: header.comment,
    producer: producerOf(header),
    boot_id: header.bootId,
    exception_code: header.exception === null ? null : hex32(header.exception.code),
    exception_name: header.exception === null ? null : exceptionName(header.exception.code),
    exception_address: pointer(header.exception?.address ?? null),
    exception_parameters: (header.exception?.parameters ?? []).map((value) => hexPointer(value, layout.bits)),
    program_counter: pointer(context?.programCounter ?? null),
    stack_pointer: pointer(context?.stackPointer ?? null),
    ...(layout.pae_enabled === null
      ? {}
      : { pae: header.paeEnabled === null ? null : header.paeEnabled !== 0 }),
    pfn_database: pointer(header.pfnDataBase),
    ps_loaded_module_list: pointer(header.psLoadedModuleList),
    ps_active_process_head: pointer(header.psActiveProcessHead),
    dump_type: header.dumpType,
    ...(body.form === "triage"
      ? { parts: header.miniDumpFields === null ? null : bitNames(header.miniDumpFields, TRIAGE_PART_BITS) }
      : {}),
    writer_status: header.writerStatus === null ? null : hex32(header.writerStatus),
    secondary_data_state: header.secondaryDataState === null ? null : hex32(header.secondaryDataState),
    ...(hasAttribute(header.attributes, ATTRIBUTE.writerDiagnostics)
      ? { writer_last_line: writerLastLine(reader, layout, header.attributes) }
      : {}),
    ...bodyFields(body),
    required_dump_space: header.requiredDumpSpace === null ? null : jsonCount(header.requiredDumpSpace),
    ...pageFields(body, sizes),
    ...sizes,
    ...holes,
    warnings,
  };
}

async function bugcheckFields(
  header: KernelHeader,
  options: InspectOptions,
  pointer: (value: bigint | null) => string | null,
): Promise<Partial<DumpInspection>> {
  const code = header.bugCheckCode;
  const bugcheck = code === null ? undefined : await findBugcheck(code);
  const described = describeBugcheck(bugcheck, { live: isLive(header, options) });
  const values = header.bugCheckParameters;
  const meanings = describeArguments(bugcheck, values.map((value) => value ?? 0n));
  const [arg1 = null, arg2 = null, arg3 = null, arg4 = null] = values.map(pointer);
  return {
    bugcheck_code: code === null ? null : hex32(code),
    bugcheck_name: described.name,
    description: described.description ?? ownDescription(code),
    reference: described.reference,
    arg1,
    arg2,
    arg3,
    arg4,
    directory_table_base: pointer(header.directoryTableBase),
    kd_debugger_data_block: pointer(header.kdDebuggerDataBlock),
    arguments: values.map((value, index): BugcheckArgument => ({
      value: pointer(value),
      meaning: value === null ? null : meanings[index] ?? null,
    })),
  };
}

/** Codes that no catalogue has, because they are no stop codes. */
function ownDescription(code: number | null): string | null {
  if (code === 0) return "No bug check: the dump was not taken at a crash, or its writer did not say";
  if (code === DUMPIT_CODE) return "Mark of the acquisition tool DumpIt, not a stop code of Windows";
  return null;
}

/** Live dumps have their own names for some codes. Their folder tells as well, when the attributes do not. */
function isLive(header: KernelHeader, options: InspectOptions): boolean {
  return hasAttribute(header.attributes, ATTRIBUTE.live) === true ||
    /(?:^|[\\/])LiveKernel(?:Reports|Dumps)[\\/]/i.test(options.path);
}

function bodyFields({ form, summary, triage }: KernelBody): Partial<DumpInspection> {
  if (triage !== null) {
    return {
      drivers: triage.drivers,
      unloaded_drivers: triage.unloadedDrivers,
      data_blocks: triage.dataBlocks,
      secondary_blobs: triage.secondaryBlobs,
      secondary_data_bytes: triage.secondaryBytes,
    };
  }
  const first = summary.firstPageOffset === null ? null : jsonCount(summary.firstPageOffset);
  if (form === "bitmap" || form === "summary") {
    return {
      bitmap_bits: summary.bitmapBits === null ? null : jsonCount(summary.bitmapBits),
      first_page_offset: first,
    };
  }
  if (form !== "runs" && form !== "ranges") return {};
  const runs = summary.runs?.slice(0, LISTED_RUNS).map((run) => ({
    first_page: hex64(run.firstPage),
    pages: jsonCount(run.pages),
  }));
  return { run_count: summary.runCount, runs: runs ?? null, first_page_offset: first };
}

function pageFields({ form, summary }: KernelBody, sizes: SizeFields): Partial<DumpInspection> {
  if (form === "triage" || form === "none") return {};
  if (summary.pages === null || summary.expectedSize === null) return { pages: null, pages_missing: null };
  const short = summary.expectedSize - BigInt(sizes.actual_size_bytes);
  const missing = short <= 0n ? 0n : (short + PAGE_BYTES - 1n) / PAGE_BYTES;
  return {
    pages: jsonCount(summary.pages),
    pages_missing: jsonCount(missing > summary.pages ? summary.pages : missing),
  };
}
