/** Opens the core of a Linux machine for those who read its kernel. */

import type { Clock } from "../../base/clock.ts";
import type { DumpInspection } from "../../contract/dump.ts";
import { ByteReader, type ByteSource } from "../../dump/bytes.ts";
import { isLinuxFormat, type LinuxFormat, openLinuxCore } from "../../dump/linux/containers/open.ts";
import { LinuxKernel } from "../../dump/linux/kernel/kernel.ts";
import { badDump } from "../../dump/reasons.ts";
import { sniffDump } from "../../dump/sniff.ts";
import { openPageCodecs } from "../../host/page_codecs.ts";
import { type DumpFiles, inspectDumpFile } from "../inspect_file.ts";
import { maybeText, readConsoleText } from "./console_file.ts";
import type { GivenSymbols } from "./symbol_file.ts";

/**
 * Opens a core in any of its containers; `given` reads symbols that the user has. Fails with `hv.bad_dump`,
 * `unsupported_kind` for what is no Linux core.
 */
export async function openLinuxKernel(
  source: ByteSource,
  given: GivenSymbols | null = null,
): Promise<LinuxKernel> {
  const format = sniffDump(new ByteReader(source));
  if (!isLinuxFormat(format)) {
    throw badDump(
      "unsupported_kind",
      `Cannot read a Linux kernel out of the file: it is of the kind ${format}`,
      { found: format },
      "Give the core of a Linux machine; `hvlab dump triage` reads other dumps and console text",
    );
  }
  return new LinuxKernel(openLinuxCore(source, format, await codecsFor(format)), given);
}

/**
 * Inspects a file that must be a core. Fails as `inspectDumpFile` does, and for the text of a console says what it is.
 */
export async function inspectCore(
  files: DumpFiles,
  clock: Clock,
  path: string,
  signal?: AbortSignal,
): Promise<DumpInspection> {
  try {
    return (await inspectDumpFile(files, clock, path, signal)).inspection;
  } catch (thrown) {
    if (!maybeText(thrown)) throw thrown;
    using file = files.open(path);
    if (readConsoleText(file) === null) throw thrown;
    throw badDump(
      "unsupported_kind",
      `Cannot read a Linux kernel out of "${path}": it is text`,
      { path, found: "text" },
      "`hvlab dump triage` reads the text of a console",
    );
  }
}

/** Only packed pages need the module behind the unpackers. */
async function codecsFor(format: LinuxFormat): ReturnType<typeof openPageCodecs> {
  if (format !== "elf_core") return await openPageCodecs();
  const never = () => {
    throw new Error("an ELF core has no packed pages");
  };
  return { inflate: never, zstd: never };
}
