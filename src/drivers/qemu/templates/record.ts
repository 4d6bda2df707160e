/** The templates of an image: `templates/<image>/<fingerprint>/template.json` beside the files that it names. */

import * as z from "zod/mini";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { ACCELERATOR_NAMES } from "../launch/accelerators.ts";
import type { QemuContext } from "../context.ts";
import type { TemplateKey } from "./fingerprint.ts";

export const TEMPLATE_RECORD = "template.json";
const SCHEMA_VERSION = 1;

/** The guest's memory, its device state, and its disk when it has one. */
export const TEMPLATE_FILES = { ram: "ram", state: "state", disk: "disk.qcow2" } as const;
/** What stands in for the kernel on a clone's command line. */
export const STUB_FILE = "stub.elf";

const FrozenFile = z.looseObject({
  role: z.enum(["ram", "state", "disk"]),
  size_bytes: z.int(),
  /** Milliseconds since 1970. */
  modified: z.nullable(z.number()),
  sha256: z.string(),
});

const TemplateKeyRecord = z.looseObject({
  format: z.int(),
  qemu: z.looseObject({ path: z.string(), version: z.string(), size_bytes: z.int(), modified: z.number() }),
  machine: z.string(),
  accelerator: z.enum(ACCELERATOR_NAMES),
  host_cpu: z.string(),
  memory_mb: z.int(),
  cpus: z.int(),
  files: z.partialRecord(z.enum(["disk", "kernel", "fast_kernel", "initrd"]), z.string()),
  arguments: z.array(z.string()),
});

/** How a clone learns the time and gets randomness of its own. */
const Waking = z.discriminatedUnion("kind", [
  /** A program of ours waits in the guest, behind files that its agent holds open. */
  z.looseObject({
    kind: z.literal("waker"),
    pid: z.int(),
    /** What it is told goes in here; what it could not do comes out of `reply`. */
    input: z.int(),
    reply: z.int(),
    /** Its output streams, each with a handle for either direction. */
    stdout: z.looseObject({ writer: z.int(), reader: z.int() }),
    stderr: z.looseObject({ writer: z.int(), reader: z.int() }),
    /** Where the guest looks for programs. */
    search: z.string(),
  }),
  /** The guest's own shell does it. */
  z.looseObject({ kind: z.literal("shell") }),
]);
export type Waking = z.infer<typeof Waking>;
export type Waker = Extract<Waking, { kind: "waker" }>;

const TemplateRecord = z.looseObject({
  schema: z.int(),
  fingerprint: z.string(),
  image: z.string(),
  key: TemplateKeyRecord,
  created_at: z.string(),
  made_by: z.optional(z.string()),
  files: z.array(FrozenFile),
  waking: Waking,
});
export type TemplateRecord = z.infer<typeof TemplateRecord>;
export type FrozenFile = z.infer<typeof FrozenFile>;

/** A template and where it lies. */
export interface Template {
  record: TemplateRecord;
  folder: string;
}

/** A folder among an image's templates that holds none. */
export interface BrokenTemplate {
  fingerprint: string;
  folder: string;
  reason: string;
}

/** Where an image's templates lie. */
export function templatesFolder({ state }: Pick<QemuContext, "state">, image: string): string {
  return joinPath(state.templates, image);
}

export function templateFile(template: Template, role: FrozenFile["role"]): string {
  return joinPath(template.folder, TEMPLATE_FILES[role]);
}

/** All templates of an image; a damaged one is told apart and never hides the others. */
export async function listTemplates(
  context: QemuContext,
  image: string,
): Promise<{ templates: Template[]; broken: BrokenTemplate[] }> {
  const { files } = context.host;
  const root = templatesFolder(context, image);
  const templates: Template[] = [];
  const broken: BrokenTemplate[] = [];
  if (await files.stat(root) === undefined) return { templates, broken };
  for (const { name } of await files.list(root)) {
    const folder = joinPath(root, name);
    try {
      const template = await readTemplate(context, image, name);
      if (template !== undefined) templates.push(template);
      else broken.push({ fingerprint: name, folder, reason: "it holds no record" });
    } catch (error) {
      broken.push({
        fingerprint: name,
        folder,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return { templates, broken };
}

/** One template; `undefined` when there is none, an error when its record cannot be read. */
export async function readTemplate(
  context: QemuContext,
  image: string,
  fingerprint: string,
): Promise<Template | undefined> {
  const folder = joinPath(templatesFolder(context, image), fingerprint);
  const text = await context.host.files.readTextIfPresent(joinPath(folder, TEMPLATE_RECORD));
  return text === undefined ? undefined : { record: readTemplateRecord(text, image, fingerprint), folder };
}

/** Reads a record's text; throws when it is not one, or is another template's. */
export function readTemplateRecord(text: string, image: string, fingerprint: string): TemplateRecord {
  const parsed = z.safeParse(TemplateRecord, parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "not a record"}`);
  }
  const record = parsed.data;
  if (record.schema !== SCHEMA_VERSION) throw new Error(`it has schema ${record.schema}`);
  if (record.image !== image || record.fingerprint !== fingerprint) {
    throw new Error(`it is the record of "${record.image}" ${record.fingerprint}`);
  }
  return record;
}

export function writeTemplateRecord(
  { key, ...record }: Omit<TemplateRecord, "schema" | "key"> & { key: TemplateKey },
): string {
  return JSON.stringify({ schema: SCHEMA_VERSION, ...record, key }, undefined, 2) + "\n";
}

/**
 * Why a template must not be used although its fingerprint fits: a file of it is missing or has been written to.
 * Sizes and times tell at each start; digests do when they are asked for.
 */
export async function findChangedFile(
  { host }: QemuContext,
  template: Template,
): Promise<string | undefined> {
  const looks = template.record.files.map(async (frozen) => {
    const facts = await host.files.stat(templateFile(template, frozen.role));
    if (facts?.kind !== "file") return `its file "${frozen.role}" is missing`;
    if (facts.size_bytes === frozen.size_bytes && facts.modified === frozen.modified) return undefined;
    return `its file "${frozen.role}" has been changed`;
  });
  return (await Promise.all(looks)).find((reason) => reason !== undefined);
}
