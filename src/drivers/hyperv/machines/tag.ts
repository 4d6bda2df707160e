/**
 * The marks that hvlab leaves in a VM's notes: that it made the VM, when, and in which folder; and what a VM that runs
 * gets at its next start, which Hyper-V itself cannot keep. Everything else in the notes is the user's and stays.
 */

import type { VmChange } from "../../../contract/vm.ts";

/** What the mark says. */
export interface Tag {
  /** The name of the VM's own folder, which was its name while it was made. */
  key: string;
  /** When it was made; absent when that cannot be read, and then its age is unknown. */
  created_at?: string;
  /** Whether the making has not come to its end. */
  making: boolean;
  /** Whether somebody else made it: then the folder is none of ours. */
  adopted?: boolean;
  /** The image that it was made from. */
  image?: string;
  /** Present for a sandbox. */
  sandbox?: Lease;
}

/** How long a sandbox lives. */
export interface Lease {
  /** When the lease ends; absent when that cannot be read, and then it never ends by itself. */
  expires_at?: string;
  /** Whether it ends with the process that made it. */
  tied: boolean;
}

const TAG = /\[hvlab;([^\]]*)\]/;
/** A name that hvlab gives to folders. */
export const KEY = /^hvlab-[0-9a-f-]{36}$/;

/** Writes the mark. */
export function writeTag({ key, created_at, making, adopted = false, image, sandbox }: Tag): string {
  const fields = {
    key,
    created: created_at,
    making: making ? "yes" : undefined,
    adopted: adopted ? "yes" : undefined,
    image,
    sandbox: sandbox === undefined ? undefined : "yes",
    expires: sandbox?.expires_at,
    tied: sandbox?.tied ? "yes" : undefined,
  };
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value};`]
  );
  return `[hvlab;${words.join("")}]`;
}

/** Finds the mark in a VM's notes; `undefined` when hvlab did not make the VM. */
export function readTag(notes: string): Tag | undefined {
  const [, text] = TAG.exec(notes) ?? [];
  if (text === undefined) return undefined;
  const fields = new Map(
    text.split(";").map((field) => {
      const equals = field.indexOf("=");
      return [field.slice(0, Math.max(0, equals)), field.slice(equals + 1)] as const;
    }),
  );
  const key = fields.get("key") ?? "";
  if (!KEY.test(key)) return undefined;
  const created_at = timeOf(fields.get("created"));
  const expires_at = timeOf(fields.get("expires"));
  const image = fields.get("image");
  const sandbox = {
    ...(expires_at === undefined ? {} : { expires_at }),
    tied: fields.get("tied") === "yes",
  };
  return {
    key,
    ...(created_at === undefined ? {} : { created_at }),
    making: fields.get("making") === "yes",
    ...(fields.get("adopted") === "yes" ? { adopted: true } : {}),
    ...(image === undefined ? {} : { image }),
    ...(fields.get("sandbox") === "yes" ? { sandbox } : {}),
  };
}

/** The notes without the mark. */
export function removeTag(notes: string): string {
  return notes.replace(TAG, "").trim();
}

/** The notes with this mark in the place of any other. */
export function putTag(notes: string, tag: Tag): string {
  return [writeTag(tag), removeTag(notes)].filter((part) => part !== "").join(" ");
}

/** The notes with the very mark that other notes bear; without one where they bear none. */
export function copyTag(notes: string, from: string): string {
  const mark = TAG.exec(from)?.[0] ?? "";
  if ((TAG.exec(notes)?.[0] ?? "") === mark) return notes;
  return [mark, removeTag(notes)].filter((part) => part !== "").join(" ");
}

function timeOf(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}

const NEXT = /\s*\[hvlab-next;([^\]]*)\]/;

/** What the VM gets at its next start; nothing when no change waits. */
export function readNext(notes: string): VmChange {
  const [, text = ""] = NEXT.exec(notes) ?? [];
  const change: VmChange = {};
  for (const field of ["memory_mb", "cpus"] as const) {
    const [, digits] = new RegExp(`(?:^|;)${field}=(\\d{1,9});`).exec(text) ?? [];
    if (digits !== undefined) change[field] = Number(digits);
  }
  return change;
}

/** The notes with this change waiting in the place of any other. */
export function writeNext(notes: string, change: VmChange): string {
  const plain = notes.replace(NEXT, "");
  const fields = Object.entries(change).map(([field, value]) => `${field}=${value};`);
  if (fields.length === 0) return plain;
  return `${plain}${plain === "" ? "" : " "}[hvlab-next;${fields.join("")}]`;
}

/** Every mark of ours, whatever it is for. */
const ANY = /\s*\[hvlab(?:-[a-z]+)?;[^\]]*\]/g;

/** The user's own part of the notes. */
export function readText(notes: string): string {
  return notes.replace(ANY, "").trim();
}

/** The notes with another text of the user's; the marks stay. */
export function writeText(notes: string, text: string): string {
  const marks = [...notes.matchAll(ANY)].map(([mark]) => mark.trim());
  return [...marks, ...(text === "" ? [] : [text])].join(" ");
}

/** Whether a text could be read as one of the marks. */
export function looksLikeMark(text: string): boolean {
  return /\[hvlab(?:-[a-z]+)?;/.test(text);
}
