/** What the operating system refuses, in the words and codes of hvlab. */

import { HvError } from "../base/errors.ts";

/** Turns an error of a file operation into a coded one that names the action and the path. */
export function fileFailure(error: unknown, action: string, path: string): HvError {
  if (error instanceof HvError) return error;
  const context = { path };
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Deno.errors.NotFound) {
    return new HvError("hv.not_found", `Cannot ${action} "${path}": it does not exist`, {
      hint: "Check the path",
      context,
      cause: error,
    });
  }
  if (error instanceof Deno.errors.AlreadyExists) {
    return new HvError("hv.conflict", `Cannot ${action} "${path}": it exists already`, {
      hint: "Choose another path, or remove the existing one first",
      context: { ...context, wanted: "absent", found: "present" },
      cause: error,
    });
  }
  if (error instanceof Deno.errors.NotCapable) {
    return new HvError("hv.permission", `Cannot ${action} "${path}": hvlab runs without that permission`, {
      hint: needsEverything(text)
        ? "hvlab opens no devices, pipes and files of the system: copy it into an ordinary file"
        : "Start hvlab with its own launcher, which grants what it needs",
      context,
      cause: error,
    });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new HvError("hv.permission", `Cannot ${action} "${path}": the operating system refuses it`, {
      hint: "Give this user access to the path, or choose another path",
      context,
      cause: error,
    });
  }
  if (isSystemError(text, Deno.build.os === "windows" ? [39, 112] : [28]) || text.startsWith("ENOSPC")) {
    return new HvError("hv.io", `Cannot ${action} "${path}": the disk is full`, {
      hint: "Free some space; `hvlab vm orphans` shows what hvlab itself left behind",
      context: { ...context, reason: "disk_full" },
      cause: error,
    });
  }
  if (isReadOnlyDisk(error)) {
    return new HvError("hv.io", `Cannot ${action} "${path}": the disk is read-only`, {
      hint: "Make it writable again, or choose another path; what runs can still be stopped",
      context: { ...context, reason: "disk_read_only" },
      cause: error,
    });
  }
  return new HvError("hv.io", `Cannot ${action} "${path}": ${text}`, { context, cause: error });
}

/** No list of permissions lets a program at procfs, sysfs and device nodes, only all of them together (Deno 2.9.6). */
function needsEverything(text: string): boolean {
  return text.includes("--allow-all");
}

/** Whether a failure says that nothing can be written to a disk any more. */
export function isReadOnlyDisk(error: unknown): boolean {
  const text = error instanceof Error ? error.message : String(error);
  return isSystemError(text, Deno.build.os === "windows" ? [19] : [30]) || text.startsWith("EROFS");
}

/** The same number means another thing on another system, and 30 is no part of 303, a file that is being deleted. */
function isSystemError(text: string, numbers: readonly number[]): boolean {
  return numbers.some((number) => text.includes(`(os error ${number})`));
}

/** The failure of starting a program: missing, or refused by the run list or by the system. */
export function programFailure(error: unknown, program: string): HvError {
  if (error instanceof HvError) return error;
  const context = { program };
  if (error instanceof Deno.errors.NotFound) {
    return new HvError("hv.unavailable", `Cannot run "${program}": it is not installed or not on PATH`, {
      hint: `Install "${program}", or name its place under "programs" in hvlab.yaml`,
      context,
      retryable: false,
      cause: error,
    });
  }
  if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
    return new HvError("hv.permission", `Cannot run "${program}": hvlab may not start it`, {
      hint: "Put it on PATH under its usual name, and check that it is executable",
      context,
      cause: error,
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new HvError("hv.io", `Cannot run "${program}": ${text}`, { context, cause: error });
}
