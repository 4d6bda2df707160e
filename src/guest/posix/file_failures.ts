/** What goes wrong with the files of a POSIX guest, in the codes of hvlab. */

import { HvError } from "../../base/errors.ts";

/** What a file script said: one word on stdout, more on stderr. */
export interface ScriptWords {
  stdout: string;
  stderr: string;
}

/** The script that makes room for a file has failed. */
export function prepareFailure(path: string, { stdout, stderr }: ScriptWords): HvError {
  if (stdout === "folder") return isFolder(path);
  if (stdout === "exists") return exists(path);
  return fileFailed(stdout === "parent" ? "make the folder of" : "write", path, stderr);
}

/** The script that checks an arrived file and gives it its name has failed. */
export function commitFailure(path: string, { stdout, stderr }: ScriptWords): HvError {
  if (stdout === "folder") return isFolder(path);
  if (stdout === "exists") return exists(path);
  if (stdout === "size" || stdout === "digest") {
    return new HvError("hv.io", `What arrived for "${path}" in the guest differs from what was sent`, {
      hint: "Look whether the guest's disk is full or damaged, then copy again",
      context: { path, differs: stdout, found: stderr },
    });
  }
  return fileFailed("give its name to", path, stderr);
}

/** The script that looks at a file to be read has failed. */
export function inspectFailure(path: string, { stdout, stderr }: ScriptWords): HvError {
  switch (stdout) {
    case "missing":
      return fileMissing(path);
    case "link":
      return new HvError("hv.not_found", `"${path}" in the guest is a link that leads nowhere`, {
        hint: "Name the file itself",
        context: { path },
      });
    case "folder":
      return isFolder(path);
    case "kind":
      return new HvError("hv.usage", `"${path}" in the guest is no ordinary file`, {
        hint: "Read pipes and devices with a program, as in `guest exec VM -- head -c 512 PATH`",
        context: { path },
      });
    case "unreadable":
      return fileFailed("read", path, "Permission denied");
    default:
      return fileFailed("look at", path, stderr);
  }
}

export function fileMissing(path: string): HvError {
  return new HvError("hv.not_found", `There is no file "${path}" in the guest`, {
    hint: "Check the path",
    context: { path },
  });
}

/** An action on a file failed for a reason that the guest gave. */
export function fileFailed(action: string, path: string, reason: string): HvError {
  const full = /no space left|quota/i.test(reason);
  return new HvError("hv.io", `Cannot ${action} "${path}" in the guest: ${reason || "no reason given"}`, {
    ...(full ? { hint: "Free some space in the guest" } : {}),
    context: { path, ...(full ? { reason: "disk_full" } : {}) },
  });
}

function isFolder(path: string): HvError {
  return new HvError("hv.usage", `"${path}" in the guest is a folder`, {
    hint: "Name the file itself; single files are copied",
    context: { path },
  });
}

function exists(path: string): HvError {
  return new HvError("hv.conflict", `"${path}" exists in the guest already`, {
    hint: "Choose another path, or give --overwrite",
    context: { path, wanted: "absent", found: "present" },
  });
}
