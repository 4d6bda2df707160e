/** SHA-256 over bytes as they pass by: the platform's own digest wants them all at once. */

/** A digest under way. */
export interface Digest {
  update(bytes: Uint8Array): void;
  /** The digest in lower-case hexadecimal; ends it. */
  end(): string;
}

/** Starts a SHA-256. The module behind it is loaded on the first use, since few commands need it. */
export async function startSha256(): Promise<Digest> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    end: () => hash.digest("hex"),
  };
}
