/** A `file.ptr`: what a symbol store has in place of a file that lies elsewhere. */

/** Its name, whatever file it stands for. */
export const POINTER_NAME = "file.ptr";
/** Bytes of it that are read; it holds one path. */
export const POINTER_BYTES = 4096;

/** The path or address that it names; null when it holds a note (`MSG:`) or nothing. */
export function parsePointer(bytes: Uint8Array): string | null {
  const text = new TextDecoder().decode(bytes).trim();
  if (text.startsWith("MSG:")) return null;
  const named = text.replace(/^PATH:/, "").trim();
  return named === "" ? null : named;
}

/**
 * The parts of a path below the root of a store; null for one that leads out of it: to a drive, another machine, the
 * root of a file system, or upwards.
 */
export function partsInStore(path: string): string[] | null {
  const parts = path.split(/[\\/]/);
  return parts.some((part) => part === "" || part === ".." || part.includes(":")) ? null : parts;
}
