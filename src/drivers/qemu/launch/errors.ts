/** Why QEMU did not start: its own last words, sorted into hvlab's codes. */

import { type ErrorCode, HvError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { Host } from "../../../host/host.ts";

/** More than any start error of QEMU; a log can have grown for days. */
const TAIL_BYTES = 16 * 1024;

/** The bytes of a log from `offset` on, at most the last 16 KiB of them, as text. */
export async function readLogTail(host: Host, path: string, offset = 0): Promise<string> {
  if (await host.files.stat(path) === undefined) return "";
  using file = host.files.open(path);
  const start = Math.max(offset, file.size - TAIL_BYTES, 0);
  return new TextDecoder().decode(file.read(start, Math.max(0, file.size - start)));
}

interface Cause {
  pattern: RegExp;
  code: ErrorCode;
  summary: string;
  hint: string;
}

/** Texts of QEMU 7.2; the first match counts. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /could not set up host forwarding rule|Address already in use/i,
    code: "hv.conflict",
    summary: "a port or socket that it needs is in use",
    hint: "Free the port, or choose another one",
  },
  {
    pattern: /Failed to get ".*" lock|Cannot lock pid file/i,
    code: "hv.conflict",
    summary: "another process uses one of its files",
    hint: "Look for a second QEMU that has the file open: hvlab vm orphans",
  },
  {
    pattern: /No space left on device/i,
    code: "hv.io",
    summary: "the disk is full",
    hint: "Free some space; `hvlab vm orphans` shows what hvlab itself left behind",
  },
  {
    pattern: /cannot set up guest memory|Cannot allocate memory/i,
    code: "hv.unavailable",
    summary: "the host has not enough free memory",
    hint: "Stop other VMs, or give this one less memory",
  },
  {
    pattern:
      /invalid kernel header|error loading uncompressed kernel|could not load kernel|Error loading.*kernel|Image is not in|could not load initrd|linux kernel too old|is not a valid .*image/i,
    code: "hv.bad_image",
    summary: "it cannot use a file of the image",
    hint: "Check the image, and import it anew",
  },
  {
    pattern:
      /unsupported machine type|Parameter '.*' expects|is not a valid device model|invalid accelerator/i,
    code: "hv.unsupported",
    summary: "this QEMU lacks a part of the machine",
    hint: "Install the QEMU that made the VM, or make the VM anew",
  },
  {
    pattern: /Permission denied|Operation not permitted/i,
    code: "hv.permission",
    summary: "the operating system refuses something that it needs",
    hint: "Give this user access to the file that QEMU names",
  },
];

/** QEMU writes its RAM into a file with holes: where no room is left for a hole, the kernel ends it so. */
export const FULL_DISK_SIGNAL = "SIGBUS";

const FULL_DISK: Omit<Cause, "pattern"> = {
  code: "hv.io",
  summary: `signal ${FULL_DISK_SIGNAL} ended it, most likely because the disk that holds its memory is full`,
  hint: "Free some space; `hvlab vm orphans` shows what hvlab itself left behind",
};

/** Turns the end of a start into an error that carries QEMU's words. */
export function launchFailure(
  words: string,
  end: { code: number | null; signal: string | null },
  facts: JsonObject,
): HvError {
  const lines = words.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const said = lines.filter((line) => !/: warning: /.test(line));
  const last = said.at(-1) ?? lines.at(-1);
  const ending = end.signal === null ? `it ended with code ${end.code}` : `signal ${end.signal} ended it`;
  const cause = CAUSES.find(({ pattern }) => pattern.test(words)) ??
    (end.signal === FULL_DISK_SIGNAL ? FULL_DISK : undefined);
  const qemu = said.join("\n") || words.trim();
  const because = cause === undefined ? ending : cause.summary;
  return new HvError(
    cause?.code ?? "hv.job_failed",
    `QEMU did not start: ${because}${last === undefined ? "" : `. QEMU says: ${last}`}`,
    {
      hint: cause?.hint ??
        (qemu === ""
          ? "QEMU said nothing: try again, and look at the host's memory and kernel log"
          : "Correct what QEMU's words in the context name, and start the VM again"),
      context: { ...facts, ...(qemu === "" ? {} : { qemu }), exit_code: end.code, signal: end.signal },
    },
  );
}
