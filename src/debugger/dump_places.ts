/** Where operating systems leave crash dumps. */

import { joinPath } from "../base/paths.ts";

/** A file or a folder to search. */
export interface DumpPlace {
  path: string;
  /** Levels of folders below it that are searched: 0 is the folder alone. */
  depth: number;
  /** Only names that match are looked at; without it every file is. */
  name?: RegExp;
  /** Whether it may be missing: it is left out then, instead of being an error. */
  optional: boolean;
}

/** Folders below a folder that a user names. */
export const SEARCH_DEPTH = 8;

const DUMP_NAME = /\.[hm]?dmp$/i;

/** The folder or file that a user named: everything in it is looked at. */
export function placeOf(path: string): DumpPlace {
  return { path, depth: SEARCH_DEPTH, optional: false };
}

/**
 * The usual places of an operating system (`windows`, `linux`, ...). `variable` reads the environment; a place whose
 * variable is not set is left out.
 */
export function usualDumpPlaces(os: string, variable: (name: string) => string | undefined): DumpPlace[] {
  if (os !== "windows") {
    return os === "linux" ? [{ path: "/var/crash", depth: 2, optional: true }] : [];
  }
  const rows: [base: string, depth: number, ...parts: string[]][] = [
    ["SystemRoot", 0, "MEMORY.DMP"],
    ["SystemRoot", 0, "Minidump"],
    ["SystemRoot", 1, "LiveKernelReports"],
    ["LOCALAPPDATA", 0, "Microsoft", "Windows", "TaskManager", "LiveKernelDumps"],
    ["LOCALAPPDATA", 0, "CrashDumps"],
    ["TEMP", 0],
    ["ProgramData", 1, "Microsoft", "Windows", "WER", "ReportQueue"],
    ["ProgramData", 1, "Microsoft", "Windows", "WER", "ReportArchive"],
  ];
  return rows.flatMap(([base, depth, ...parts]) => {
    const start = variable(base);
    return start === undefined
      ? []
      : [{ path: joinPath(start, ...parts), depth, name: DUMP_NAME, optional: true }];
  });
}
