/** Which dump a finding is about: telling copies apart without reading 64 GiB. */

import type { Files } from "../../host/files.ts";
import { startSha256 } from "../../host/digest.ts";

const HEAD_BYTES = 8 * 1024;
const TAIL_BYTES = 64 * 1024;

/** SHA-256 over size, time of change, the first 8 KiB and the last 64 KiB. */
export async function fingerprintOf(files: Pick<Files, "stat" | "open">, path: string): Promise<string> {
  const facts = await files.stat(path, { follow: true });
  using file = files.open(path);
  const digest = await startSha256();
  digest.update(new TextEncoder().encode(`${file.size} ${facts?.modified ?? "?"}\n`));
  digest.update(file.read(0, HEAD_BYTES));
  digest.update(file.read(Math.max(0, file.size - TAIL_BYTES), TAIL_BYTES));
  return digest.end();
}
