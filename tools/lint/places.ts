/** Where a linted file stands in the repository. */

/**
 * The file's place from the repository's folder on, with forward slashes: `src/host/files.ts`. A name that is not under it is
 * taken as it stands, which lets tests name any place.
 */
export function placeOf(filename: string): string {
  const path = filename.replaceAll("\\", "/");
  const root = new URL("../..", import.meta.url);
  const prefix = decodeURIComponent(root.pathname).replace(/^\/([A-Za-z]:)/, "$1");
  return path.startsWith(prefix) ? path.slice(prefix.length) : path.replace(/^\/+/, "");
}

/** Whether the file is part of the product: `main.ts` and everything under `src`. */
export function isProduct(place: string): boolean {
  return place === "main.ts" || place.startsWith("src/");
}
