/** Decides the form of a kernel dump's body and reads its summary. */

import type { ByteReader } from "../bytes.ts";
import { hex } from "../numbers.ts";
import { type DumpWarning, readPart } from "../reasons.ts";
import { readBitmapBody, readSummaryBody, SUMMARY_HEADER } from "./bitmap.ts";
import type { KernelHeader } from "./header.ts";
import type { HeaderLayout } from "./header_layout.ts";
import { dumpKindName } from "./meaning.ts";
import { readPhysicalMemory } from "./physical_memory.ts";
import { RDMP_MARKER, readRdmpBody } from "./rdmp.ts";
import { type BodySummary, UNKNOWN_BODY } from "./runs.ts";
import { summarizeTriage, type TriageSummary } from "./triage.ts";

/** A body's form and summary. */
export interface KernelBody {
  /** Name for users; the body's own signature wins over DumpType. */
  kind: string;
  form: "runs" | "bitmap" | "summary" | "ranges" | "triage" | "none";
  summary: BodySummary;
  triage: TriageSummary | null;
}

/** Forms by DumpType; the automatic setting writes bitmaps. */
const FORMS: ReadonlyMap<number, KernelBody["form"]> = new Map([
  [1, "runs"],
  [2, "summary"],
  [4, "triage"],
  [5, "bitmap"],
  [6, "bitmap"],
  [7, "bitmap"],
  [8, "ranges"],
  [9, "ranges"],
  [0xA, "ranges"],
]);

/** What the first bytes behind the header say. */
type BodySignature = "FDMP" | "SDMP" | "summary" | "RDMP" | null;

/**
 * Reads the body's own header. Damage becomes warnings: those of the forms, `kind_mismatch` when the signature
 * contradicts DumpType, `body_unusable` when a bitmap has no signature.
 */
export function readKernelBody(
  reader: ByteReader,
  layout: HeaderLayout,
  header: KernelHeader,
  warnings: DumpWarning[],
): KernelBody {
  const signature = reader.has(layout.size, 16) ? readSignature(reader, layout.size) : null;
  const body: KernelBody = {
    kind: kindOf(header.dumpType, signature),
    form: formOf(header.dumpType, signature),
    summary: UNKNOWN_BODY,
    triage: null,
  };
  warnOfContradiction(reader, layout, header.dumpType, signature, body, warnings);
  if (body.form !== "runs" && !reader.has(layout.size, 1)) return body; // the size check tells
  readPart(warnings, () => {
    if (body.form === "runs") body.summary = readPhysicalMemory(reader, layout, warnings);
    if (body.form === "bitmap") body.summary = readBitmapBody(reader, layout.size, warnings);
    if (body.form === "summary") body.summary = readSummaryBody(reader, layout.size, layout.bits, warnings);
    if (body.form === "ranges") body.summary = readRdmpBody(reader, layout.size, warnings);
    if (body.form === "triage") {
      body.triage = summarizeTriage(reader, layout.size, layout.bits, warnings);
      body.summary = { ...UNKNOWN_BODY, expectedSize: BigInt(body.triage.size) };
    }
  });
  return body;
}

function readSignature(reader: ByteReader, start: number): BodySignature {
  const head = reader.ascii(start, 8, "body signature");
  if (head === "FDMPDUMP") return "FDMP";
  if (head === "SDMPDUMP") {
    return reader.u32(start + SUMMARY_HEADER.first_page.offset, "HeaderSize") === 0 ? "SDMP" : "summary";
  }
  const ranges = reader.u32(start, "Marker") === RDMP_MARKER &&
    reader.ascii(start + 4, 8, "body signature") === "RDMPDUMP";
  return ranges ? "RDMP" : null;
}

function formOf(type: number | null, signature: BodySignature): KernelBody["form"] {
  if (signature === "FDMP" || signature === "SDMP") return "bitmap";
  if (signature === "summary") return "summary";
  if (signature === "RDMP") return "ranges";
  const form = FORMS.get(type ?? 0) ?? "none";
  return form === "bitmap" || form === "summary" ? "none" : form;
}

function kindOf(type: number | null, signature: BodySignature): string {
  if (type === 7 && (signature === "FDMP" || signature === "SDMP")) return "automatic";
  if (signature === "FDMP") return "bitmap_full";
  if (signature === "SDMP") return "bitmap_kernel";
  if (signature === "summary") return "kernel_summary";
  if (signature === "RDMP" && FORMS.get(type ?? 0) !== "ranges") return "rdmp_complete";
  return dumpKindName(type);
}

function warnOfContradiction(
  reader: ByteReader,
  layout: HeaderLayout,
  type: number | null,
  signature: BodySignature,
  body: KernelBody,
  warnings: DumpWarning[],
): void {
  const wanted = FORMS.get(type ?? 0);
  const claimed = dumpKindName(type);
  if (signature !== null && body.kind !== claimed) {
    warnings.push({
      reason: "kind_mismatch",
      message: `The header says ${claimed}, the body says ${body.kind}; the body is trusted`,
      offset: layout.fields.dump_type.offset,
      expected: claimed,
      actual: body.kind,
    });
  } else if (
    signature === null && (wanted === "bitmap" || wanted === "summary") && reader.has(layout.size, 16)
  ) {
    warnings.push({
      reason: "body_unusable",
      message:
        `No ${wanted === "summary" ? "SDMP" : "FDMP or SDMP"} is at ${hex(layout.size)}, so the pages ` +
        "cannot be placed",
      offset: layout.size,
    });
  }
}
