/** Downloads that broke off: the bytes that came, and beside them of what they are a part. */

import { parseJson } from "../../base/json.ts";
import type { Files } from "../../host/files.ts";

/** What has come of a file. */
export interface Begun {
  readonly size: number;
  /** What its server called the version that the bytes are of. */
  readonly validator: string;
}

/** What `part` holds of the file at an address; null when nothing, or nothing that can be gone on with. */
export async function readBegun(files: Files, part: string, url: string): Promise<Begun | null> {
  const facts = await files.stat(part);
  const text = facts === undefined ? undefined : await files.readTextIfPresent(noteOf(part));
  if (facts === undefined || text === undefined || facts.size_bytes === 0) return null;
  try {
    const noted = parseJson(text);
    if (typeof noted !== "object" || noted === null || Array.isArray(noted)) return null;
    const { validator } = noted;
    return noted.url === url && typeof validator === "string" ? { validator, size: facts.size_bytes } : null;
  } catch {
    return null;
  }
}

/** Notes of what `part` will hold the beginning; without a word for the version there is no going on. */
export async function noteBegun(
  files: Files,
  part: string,
  url: string,
  validator: string | undefined,
): Promise<void> {
  if (validator === undefined) await files.remove(noteOf(part));
  else await files.writeAtomically(noteOf(part), JSON.stringify({ url, validator }));
}

/** Removes both. */
export async function forgetBegun(files: Files, part: string): Promise<void> {
  await files.remove(part);
  await files.remove(noteOf(part));
}

function noteOf(part: string): string {
  return `${part}.json`;
}
