/** Opens a kernel dump. */

import { ByteReader, type ByteSource } from "../../bytes.ts";
import { badDump, type DumpWarning } from "../../reasons.ts";
import type { KernelSession } from "../../session.ts";
import { readKernelBody } from "../body.ts";
import { isEncrypted } from "../checks.ts";
import type { ContextMachine } from "../context.ts";
import { readKernelHeader } from "../header.ts";
import type { HeaderLayout } from "../header_layout.ts";
import { machineName } from "../meaning.ts";
import { openPhysicalPages } from "../physical_pages.ts";
import { buildNumber } from "../versions.ts";
import type { DecodingVariables } from "./debugger_data.ts";
import { openKernelMemory } from "./paging.ts";
import { type KernelGround, OpenedKernelDump } from "./session.ts";
import { openTriageMemory } from "./triage_memory.ts";

const INSPECT_HINT = "Run `hvlab dump inspect` for what its header tells";

/**
 * Opens a kernel dump whose signature has been seen. Fails with `hv.bad_dump`: `too_short` (not even a header),
 * `encrypted`, `unsupported_kind` (no pages that can be placed, or a processor whose memory is not understood).
 */
export function openKernelDump(
  source: ByteSource,
  layout: HeaderLayout,
  decoding: DecodingVariables | null,
): KernelSession {
  const reader = new ByteReader(source);
  if (source.size < layout.size) {
    throw badDump(
      "too_short",
      `Cannot open the dump: its header needs ${layout.size} bytes, the file has ${source.size}`,
      { expected: layout.size, found: source.size },
      INSPECT_HINT,
    );
  }
  const header = readKernelHeader(reader, layout);
  if (isEncrypted(header)) {
    throw badDump(
      "encrypted",
      "Cannot open the dump: its pages are encrypted",
      { offset: layout.fields.attributes.offset },
      "Decrypt it first with the key of the machine that wrote it",
    );
  }
  const warnings: DumpWarning[] = [];
  const body = readKernelBody(reader, layout, header, warnings);
  const machine = supportedMachine(machineName(header.machineImageType), layout);
  const ground: Omit<KernelGround, "memory" | "physical" | "paging" | "triage"> = {
    kind: body.kind,
    source,
    reader,
    layout,
    header,
    machine,
    warnings,
    decoding,
  };
  const triage = body.triage?.header ?? null;
  if (triage !== null) {
    const memory = openTriageMemory(source, reader, header, triage, warnings);
    return new OpenedKernelDump({ ...ground, memory, physical: null, paging: null, triage });
  }
  const physical = openPhysicalPages(source, reader, layout, body);
  if (physical === null) {
    throw badDump(
      "unsupported_kind",
      `Cannot open the dump: its kind ${body.kind} holds no memory that can be read`,
      { offset: layout.fields.dump_type.offset, found: body.kind },
      INSPECT_HINT,
    );
  }
  const build = buildNumber(header.minorVersion);
  const opened = openKernelMemory(physical, machine, header, build, warnings);
  return new OpenedKernelDump({ ...ground, ...opened, physical, triage: null });
}

function supportedMachine(name: string | null, layout: HeaderLayout): ContextMachine {
  if (layout.bits === 32 && name === "x86") return name;
  if (layout.bits === 64 && (name === "x64" || name === "arm64")) return name;
  throw badDump(
    "unsupported_kind",
    `Cannot open the dump: memory of a ${layout.bits}-bit machine "${
      name ?? "not recorded"
    }" is not understood`,
    { offset: layout.fields.machine_image_type.offset, found: name },
    INSPECT_HINT,
  );
}
