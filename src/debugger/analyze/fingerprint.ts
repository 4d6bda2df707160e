/** Which dump a finding is about: telling dumps apart without reading 64 GiB. */

import type { Files, RandomAccessFile } from "../../host/files.ts";
import { type Digest, startSha256 } from "../../host/digest.ts";

const HEAD_BYTES = 8 * 1024;
const TAIL_BYTES = 64 * 1024;
/** Files up to here are read whole: dumps of one machine that differ in a few bytes have both ends in common. */
const WHOLE_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const SAMPLES = 1024;
const SAMPLE_BYTES = 4096;

/** SHA-256 over size, time of change and content; of a large file over both ends and pages from all parts of it. */
export async function fingerprintOf(files: Pick<Files, "stat" | "open">, path: string): Promise<string> {
  const facts = await files.stat(path, { follow: true });
  using file = files.open(path);
  const digest = await startSha256();
  digest.update(new TextEncoder().encode(`${file.size} ${facts?.modified ?? "?"}\n`));
  if (file.size <= WHOLE_BYTES) readWhole(file, digest);
  else readSamples(file, digest);
  return digest.end();
}

function readWhole(file: RandomAccessFile, digest: Digest): void {
  for (let at = 0; at < file.size; at += PIECE_BYTES) digest.update(file.read(at, PIECE_BYTES));
}

function readSamples(file: RandomAccessFile, digest: Digest): void {
  digest.update(file.read(0, HEAD_BYTES));
  for (let sample = 0; sample < SAMPLES; sample++) {
    digest.update(
      file.read(Math.floor(file.size * sample / SAMPLES / SAMPLE_BYTES) * SAMPLE_BYTES, SAMPLE_BYTES),
    );
  }
  digest.update(file.read(file.size - TAIL_BYTES, TAIL_BYTES));
}
