/** Copying a file whose bytes are digested on the way, so that the digest is that of the copy. */

import { startSha256 } from "../host/digest.ts";
import type { Host } from "../host/host.ts";
import type { CallScope } from "./call_scope.ts";

const CHUNK_BYTES = 1024 * 1024;

export interface Digested {
  size_bytes: number;
  /** SHA-256 in lower-case hexadecimal. */
  sha256: string;
}

/** Copies to a new file and brings it to the disk. `what` is the file's name in the progress. */
export async function copyWithDigest(
  { host }: { host: Host },
  what: string,
  source: string,
  target: string,
  { signal, progress }: Pick<CallScope, "signal" | "progress">,
): Promise<Digested> {
  const digest = await startSha256();
  using reader = host.files.open(source);
  using writer = await host.files.create(target, { mode: 0o644 });
  let offset = 0;
  for (;;) {
    signal.throwIfAborted();
    const bytes = reader.read(offset, CHUNK_BYTES);
    if (bytes.length === 0) break;
    digest.update(bytes);
    await writer.write(bytes);
    offset += bytes.length;
    progress({
      message: `Copying the ${what}`,
      fraction: reader.size === 0 ? 1 : Math.min(1, offset / reader.size),
    });
  }
  await writer.sync();
  return { size_bytes: offset, sha256: digest.end() };
}

/** Digests a file where it lies. */
export async function digestFile(
  { host }: { host: Host },
  path: string,
  signal: AbortSignal,
): Promise<Digested> {
  const digest = await startSha256();
  using reader = host.files.open(path);
  let offset = 0;
  for (;;) {
    signal.throwIfAborted();
    const bytes = reader.read(offset, CHUNK_BYTES);
    if (bytes.length === 0) return { size_bytes: offset, sha256: digest.end() };
    digest.update(bytes);
    offset += bytes.length;
    // Reading is synchronous: others get their turn in between.
    await Promise.resolve();
  }
}
