/**
 * The mark that hvlab leaves in a VM's notes: that it made the VM, when, and in which folder. Everything else in the notes is
 * the user's and stays.
 */

/** What the mark says. */
export interface Tag {
  /** The name of the VM's own folder, which was its name while it was made. */
  key: string;
  /** When it was made; absent when that cannot be read, and then its age is unknown. */
  created_at?: string;
  /** Whether the making has not come to its end. */
  making: boolean;
}

const TAG = /\[hvlab;([^\]]*)\]/;
const KEY = /^hvlab-[0-9a-f-]{36}$/;

/** Writes the mark. */
export function writeTag({ key, created_at, making }: Tag): string {
  const fields = [`key=${key}`, ...(created_at === undefined ? [] : [`created=${created_at}`])];
  if (making) fields.push("making=yes");
  return `[hvlab;${fields.join(";")};]`;
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
  const created = fields.get("created");
  const isTime = created !== undefined && !Number.isNaN(Date.parse(created));
  return { key, ...(isTime ? { created_at: created } : {}), making: fields.get("making") === "yes" };
}
