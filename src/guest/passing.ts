/** The names that files and folders have beside their own until they are whole. */

const PASSING = /[^\\/]\.hvlab-[0-9a-f]{8}(\.[a-z0-9]+)?$/;

/** What makes the passing names of one call its own. */
export function passingToken(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** The passing name of a path, in a guest or on this host. */
export function passingName(path: string, token: string = passingToken()): string {
  return `${shortened(path.replace(/(?<=[^\\/])[\\/]+$/, ""))}.hvlab-${token}`;
}

/** File systems take names of 255 bytes; the rest is for what stands behind, an ending such as ".tar" included. */
const LONGEST_NAME_BYTES = 230;

/** The same path with no more than the end of a long name, so that names with different endings stay different. */
function shortened(path: string): string {
  const lastName = path.startsWith("/") ? /[^/]*$/ : /[^\\/]*$/;
  return path.replace(lastName, (name) => {
    const bytes = new TextEncoder().encode(name);
    if (bytes.length <= LONGEST_NAME_BYTES) return name;
    return new TextDecoder().decode(bytes.subarray(-LONGEST_NAME_BYTES)).replace(/^\ufffd+/, "");
  });
}

/** Whether only we give such names, so that what bears one may be removed. */
export function isPassing(path: string): boolean {
  return PASSING.test(path);
}
