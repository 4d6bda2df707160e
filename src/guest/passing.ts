/** The names that files and folders have beside their own until they are whole. */

const PASSING = /[^\\/]\.hvlab-[0-9a-f]{8}(\.[a-z0-9]+)?$/;

/** What makes the passing names of one call its own. */
export function passingToken(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** The passing name of a path, in a guest or on this host. */
export function passingName(path: string, token: string = passingToken()): string {
  return `${path.replace(/(?<=[^\\/])[\\/]+$/, "")}.hvlab-${token}`;
}

/** Whether only we give such names, so that what bears one may be removed. */
export function isPassing(path: string): boolean {
  return PASSING.test(path);
}
