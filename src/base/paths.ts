/**
 * Paths as text. Small on purpose: importing `node:path` costs 11 ms of an empty program's 19
 * (measured on Deno 2.9.6), more than `dump inspect` may spend altogether.
 */

import { HvError } from "./errors.ts";

/** Joins path parts with the separator that the first one uses: `\` after a drive letter or a UNC prefix, else `/`. */
export function joinPath(first: string, ...rest: string[]): string {
  const separator = isWindowsPath(first) ? "\\" : "/";
  let path = first;
  for (const part of rest) path += endsWithSeparator(path) ? part : separator + part;
  return path;
}

/** The folder that holds a path; `.` for a bare name, the root for the root. */
export function folderOf(path: string): string {
  const end = lastSeparator(path);
  if (end < 0) return ".";
  if (end === 0) return path.slice(0, 1);
  return /^[A-Za-z]:$/.test(path.slice(0, end)) ? path.slice(0, end + 1) : path.slice(0, end);
}

/** A path's last part. */
export function nameOf(path: string): string {
  return path.slice(lastSeparator(path) + 1);
}

/** Whether a path stands alone, without a working folder. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || isWindowsPath(path);
}

/** A path as seen from an absolute folder, with `.` and `..` taken out; an absolute path stands alone. */
export function resolvePath(folder: string, path: string): string {
  const whole = isAbsolutePath(path) ? path : joinPath(folder, path);
  const windows = isWindowsPath(whole);
  const root = windows ? windowsRootOf(whole) : "";
  const parts: string[] = [];
  for (const part of whole.slice(root.length).split(windows ? /[\\/]/ : "/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const separator = windows ? "\\" : "/";
  return root + separator + parts.join(separator);
}

/**
 * A path as Windows sees it from a folder with a drive or a share: either separator counts, and one without a root of
 * its own (`\x`) has the folder's. Throws `hv.usage` for a drive without a root (`C:x`): it means that drive's own
 * working folder, which nobody here knows.
 */
export function resolveWindowsPath(folder: string, path: string): string {
  const written = path.replaceAll("/", "\\");
  if (/^[A-Za-z]:(?!\\)/.test(written)) {
    throw new HvError("hv.usage", `The path has a drive and no root: "${path}"`, {
      hint: `Write the folder after the drive: ${path.slice(0, 2)}\\FOLDER\\${path.slice(2)}`,
      context: { path },
    });
  }
  const isRootless = /^\\(?!\\)/.test(written);
  return resolvePath(folder, isRootless ? windowsRootOf(folder) + written : written);
}

/** Whether a path is a folder's own or lies below it. Both are real paths: without `.`, `..` and links. */
export function isWithin(path: string, folder: string): boolean {
  const separator = isWindowsPath(folder) ? "\\" : "/";
  const start = endsWithSeparator(folder) ? folder : folder + separator;
  return path === folder || path.startsWith(start);
}

/** The drive or the share of a path; nothing where it has none. */
function windowsRootOf(path: string): string {
  return /^[A-Za-z]:|^\\\\[^\\/]+[\\/][^\\/]+/.exec(path)?.[0] ?? "";
}

function isWindowsPath(path: string): boolean {
  return (path[1] === ":" && /^[A-Za-z]:[\\/]/.test(path)) || path.startsWith("\\\\");
}

function endsWithSeparator(path: string): boolean {
  return path.endsWith("/") || (isWindowsPath(path) && path.endsWith("\\"));
}

function lastSeparator(path: string): number {
  return isWindowsPath(path)
    ? Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"))
    : path.lastIndexOf("/");
}
