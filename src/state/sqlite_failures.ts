/** What SQLite's errors mean for the store. */

import { HvError } from "../base/errors.ts";

/** `damaged` calls for a new database, `busy` for another try; the others end the call. */
export type SqliteTrouble =
  | "busy"
  | "damaged"
  | "full"
  | "read_only"
  | "unopened"
  | "io"
  | "refused"
  | "other";

/** A database whose content is not ours although SQLite can read it. */
export class DamagedDatabase extends Error {
  override readonly name = "DamagedDatabase";
}

/** SQLite's primary result codes, the low byte of `errcode` (sqlite.org, "Result and Error Codes"). */
const TROUBLE_OF_CODE: ReadonlyMap<number, SqliteTrouble> = new Map<number, SqliteTrouble>([
  [5, "busy"],
  [6, "busy"],
  [8, "read_only"],
  [10, "io"],
  [11, "damaged"],
  [13, "full"],
  [14, "unopened"],
  [26, "damaged"],
]);

/** Deno 2.9.6 gives `errcode` for prepared statements only; opening and `exec` leave the text (measured). */
const TROUBLE_OF_TEXT: readonly [string, SqliteTrouble][] = [
  ["database is locked", "busy"],
  ["database table is locked", "busy"],
  ["locking protocol", "busy"],
  ["readonly database", "read_only"],
  ["disk I/O error", "io"],
  ["malformed", "damaged"],
  ["is not a database", "damaged"],
  ["unsupported file format", "damaged"],
  ["no such table", "damaged"],
  ["no such column", "damaged"],
  ["disk is full", "full"],
  ["unable to open database file", "unopened"],
];

export function troubleOf(error: unknown): SqliteTrouble {
  if (error instanceof DamagedDatabase) return "damaged";
  if (!(error instanceof Error)) return "other";
  if (error.name === "NotCapable") return "refused";
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
  const byCode = code === undefined ? undefined : TROUBLE_OF_CODE.get(code);
  return byCode ?? TROUBLE_OF_TEXT.find(([text]) => error.message.includes(text))?.[1] ?? "other";
}

/** A failure of the store in the words and codes of hvlab; names the action and the database. */
export function storeFailure(error: unknown, action: string, path: string): HvError {
  if (error instanceof HvError) return error;
  const trouble = troubleOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const start = `Cannot ${action} in "${path}"`;
  const details = { context: { path, reason: trouble }, cause: error };
  switch (trouble) {
    case "busy":
      return new HvError("hv.io", `${start}: another process keeps the database locked`, {
        ...details,
        hint: "Try again; `fuser` or `lsof` on the file shows who holds it",
        retryable: true,
      });
    case "full":
      return new HvError("hv.io", `${start}: the disk is full`, {
        ...details,
        context: { path, reason: "disk_full" },
        hint: "Free some space; `hvlab vm orphans` shows what hvlab itself left behind",
      });
    case "read_only":
      return new HvError("hv.io", `${start}: the file or its folder is read-only`, {
        ...details,
        hint: "Give this user write access to the folder, or choose another state folder with --state",
      });
    case "unopened":
      return new HvError("hv.io", `${start}: the file cannot be opened`, {
        ...details,
        hint: "Give this user access to the folder and the file, or choose another state folder with --state",
      });
    case "damaged":
      return new HvError("hv.io", `${start}: the database is damaged (${text})`, {
        ...details,
        hint: "The next call that changes something moves it aside and starts a new one",
      });
    case "refused":
      return new HvError("hv.permission", `${start}: hvlab runs without that permission`, {
        ...details,
        hint: "Start hvlab with its own launcher, which grants what it needs",
      });
    case "io": // what a full disk often looks like, since SQLite's companion files cannot grow
      return new HvError("hv.io", `${start}: ${text}`, {
        ...details,
        hint:
          "Check the free space of the disk and the rights of the folder; `hvlab vm orphans` shows leftovers",
      });
    case "other":
      return new HvError("hv.io", `${start}: ${text}`, details);
  }
}
