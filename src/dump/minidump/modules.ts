/** Loaded and unloaded modules of a minidump. */

import type { ByteReader } from "../bytes.ts";
import { CODE_VIEW_BYTES, parseCodeView } from "../code_view.ts";
import {
  type CodeView,
  type FileVersion,
  lastPathPart,
  type LoadedModule,
  ModuleList,
  type UnloadedModule,
} from "../modules.ts";
import { hex } from "../numbers.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { readMinidumpString, type StreamRange } from "./directory.ts";
import { LOCATION, MODULE, MODULE_BYTES, UNLOADED_MODULE, UNLOADED_MODULE_BYTES } from "./layout.ts";
import { boundedList, countedList } from "./lists.ts";

/** No process has as many. */
const MAXIMUM_MODULES = 65_536;
/** Mark of a version resource. */
const VERSION_SIGNATURE = 0xFEEF04BD;

/** Reads the ModuleList stream, cut to what is there. */
export function readModuleList(reader: ByteReader, range: StreamRange, warnings: DumpWarning[]): ModuleList {
  const list = countedList(reader, range, "module list", MODULE_BYTES, MAXIMUM_MODULES, warnings);
  const claimed = reader.u32(range.offset, "module list");
  const modules = Array.from(
    { length: list.count },
    (_, index) => readModule(reader, list.first + index * MODULE_BYTES, warnings),
  );
  return new ModuleList(modules, list.count < claimed);
}

function readModule(reader: ByteReader, entry: number, warnings: DumpWarning[]): LoadedModule {
  const base = reader.u64(entry + MODULE.base.offset, "BaseOfImage");
  const path = readPart(
    warnings,
    () =>
      readMinidumpString(reader, reader.u32(entry + MODULE.name_rva.offset, "ModuleNameRva"), "module name"),
  );
  return {
    name: path === null ? `module at ${hex(base)}` : lastPathPart(path),
    path,
    base,
    size: reader.u32(entry + MODULE.size_of_image.offset, "SizeOfImage"),
    timeDateStamp: reader.u32(entry + MODULE.time_date_stamp.offset, "TimeDateStamp"),
    checkSum: reader.u32(entry + MODULE.check_sum.offset, "CheckSum"),
    exceptionTable: null,
    codeView: readPart(warnings, () => readCodeView(reader, entry + MODULE.code_view.offset)),
    version: readVersion(reader, entry),
  };
}

function readCodeView(reader: ByteReader, location: number): CodeView | null {
  const size = reader.u32(location + LOCATION.size.offset, "CvRecord size");
  const rva = reader.u32(location + LOCATION.rva.offset, "CvRecord rva");
  if (size === 0 || rva === 0) return null;
  return parseCodeView(reader.bytes(rva, Math.min(size, CODE_VIEW_BYTES), "CvRecord"));
}

function readVersion(reader: ByteReader, entry: number): FileVersion | null {
  const signature = reader.u32(entry + MODULE.version_signature.offset, "version signature");
  if (signature !== VERSION_SIGNATURE) return null;
  const version = (offset: number): string => {
    const high = reader.u32(offset, "version");
    const low = reader.u32(offset + 4, "version");
    return [high >>> 16, high & 0xFFFF, low >>> 16, low & 0xFFFF].join(".");
  };
  return {
    file: version(entry + MODULE.file_version.offset),
    product: version(entry + MODULE.product_version.offset),
  };
}

/** Sizes of head and elements stand in the stream's own head: three numbers. */
const UNLOADED_HEAD_BYTES = 12;

/** Reads the UnloadedModuleList stream, cut to what is there. */
export function readUnloadedModules(
  reader: ByteReader,
  range: StreamRange,
  warnings: DumpWarning[],
): UnloadedModule[] {
  const head = Math.max(UNLOADED_HEAD_BYTES, reader.u32(range.offset, "SizeOfHeader"));
  const element = Math.max(UNLOADED_MODULE_BYTES, reader.u32(range.offset + 4, "SizeOfEntry"));
  const claimed = { first: range.offset + head, count: reader.u32(range.offset + 8, "NumberOfEntries") };
  const end = range.offset + range.size;
  const list = boundedList(reader, claimed, end, "unloaded module list", element, MAXIMUM_MODULES, warnings);
  return Array.from({ length: list.count }, (_, index): UnloadedModule => {
    const entry = list.first + index * element;
    const start = reader.u64(entry + UNLOADED_MODULE.base.offset, "BaseOfImage");
    const name = readPart(
      warnings,
      () =>
        readMinidumpString(
          reader,
          reader.u32(entry + UNLOADED_MODULE.name_rva.offset, "ModuleNameRva"),
          "module name",
        ),
    );
    return {
      name: name === null ? "unknown" : lastPathPart(name),
      start,
      end: start + BigInt(reader.u32(entry + UNLOADED_MODULE.size_of_image.offset, "SizeOfImage")),
      timeDateStamp: reader.u32(entry + UNLOADED_MODULE.time_date_stamp.offset, "TimeDateStamp"),
      checkSum: reader.u32(entry + UNLOADED_MODULE.check_sum.offset, "CheckSum"),
    };
  });
}
