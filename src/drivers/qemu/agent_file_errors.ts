/** What goes wrong with a guest's files, in the codes of hvlab. */

import { HvError } from "../../base/errors.ts";
import { refused } from "./agent_errors.ts";
import type { ProgramStatus } from "./agent_program.ts";
import type { AgentAnswer } from "./agent_protocol.ts";

/** The agent refused a file request. */
export function fileRefused(command: string, answer: AgentAnswer & { ok: false }, path: string): HvError {
  if (answer.errorClass === "CommandNotFound") return refused(command, answer);
  if (/no such file/i.test(answer.text)) return missing(path);
  return failed("copy", path, answer.text);
}

/** The script that makes room for a file has failed. */
export function prepareFailure(path: string, { stdout, stderr }: ProgramStatus): HvError {
  if (stdout === "folder") return isFolder(path);
  if (stdout === "exists") return exists(path);
  return failed(stdout === "parent" ? "make the folder of" : "write", path, stderr);
}

/** The script that checks an arrived file and gives it its name has failed. */
export function commitFailure(path: string, { stdout, stderr }: ProgramStatus): HvError {
  if (stdout === "folder") return isFolder(path);
  if (stdout === "exists") return exists(path);
  if (stdout === "size" || stdout === "digest") {
    return new HvError("hv.io", `What arrived for "${path}" in the guest differs from what was sent`, {
      hint: "Look whether the guest's disk is full or damaged, then copy again",
      context: { path, differs: stdout, found: stderr },
    });
  }
  return failed("give its name to", path, stderr);
}

/** The script that looks at a file to be read has failed. */
export function inspectFailure(path: string, { stdout, stderr }: ProgramStatus): HvError {
  switch (stdout) {
    case "missing":
      return missing(path);
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
      return failed("read", path, "Permission denied");
    default:
      return failed("look at", path, stderr);
  }
}

function missing(path: string): HvError {
  return new HvError("hv.not_found", `There is no file "${path}" in the guest`, {
    hint: "Check the path",
    context: { path },
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

function failed(action: string, path: string, reason: string): HvError {
  const full = /no space left|quota/i.test(reason);
  return new HvError("hv.io", `Cannot ${action} "${path}" in the guest: ${reason || "no reason given"}`, {
    ...(full ? { hint: "Free some space in the guest" } : {}),
    context: { path, ...(full ? { reason: "disk_full" } : {}) },
  });
}
