/** Checking disks: their chain with all contents of recorded parents, and their own tables. */

import { isPlainObject, parseJson } from "../../../base/json.ts";
import type { DiskCheck } from "../../../contract/disk.ts";
import type { CallScope } from "../../call_scope.ts";
import { numberIn } from "../monitor/answers.ts";
import type { QemuContext } from "../context.ts";
import { readChain, readDisk } from "./chain.ts";
import { askQemuImg, programFailure } from "./disk_program.ts";
import { qemuName } from "./format_names.ts";
import { refuseRunning } from "./users.ts";

/** Exit codes of `qemu-img check`: sound, damaged, leaking; 63 says that the format has nothing to check. */
const ANSWERS: ReadonlySet<number> = new Set([0, 2, 3]);
const NOTHING_TO_CHECK = 63;

/** Looks at a disk thoroughly. Changes nothing. */
export async function checkDisk(context: QemuContext, path: string, scope: CallScope): Promise<DiskCheck> {
  const { path: real, header } = await readDisk(context, path);
  await refuseRunning(context, real, "check", scope.signal);
  scope.progress({ message: "Reading the parents" });
  const { broken, layers } = await readChain(context, path, scope.signal, { thorough: true });
  const problems = broken === undefined
    ? []
    : [`Layer ${broken.layer}, "${layers[broken.layer]?.path ?? path}": ${broken.problem}`];
  scope.progress({ message: "Reading the tables" });
  // Without a whole chain QEMU opens nothing; the file alone can still be looked at as one that leans on nothing.
  const file = `json:${
    JSON.stringify({
      driver: qemuName(header.format),
      file: { driver: "file", filename: real },
      ...(header.format === "qcow2" || header.format === "vmdk" ? { backing: null } : {}),
    })
  }`;
  const { code, stdout, stderr } = await askQemuImg(context, ["check", "--output=json", file], scope);
  if (!ANSWERS.has(code) && code !== NOTHING_TO_CHECK) {
    const failure = await programFailure(context, stderr.trim(), real);
    if (failure.code === "hv.io") throw failure;
    problems.push(failure.message);
  }
  const found = readAnswer(stdout);
  const corruptions = numberIn(found, "corruptions");
  const errors = numberIn(found, "check-errors");
  const leaks = numberIn(found, "leaks");
  if (corruptions > 0) problems.push(`${corruptions} errors in its tables`);
  if (errors > 0) problems.push(`${errors} tables could not be read`);
  if (header.markedCorrupt) problems.push("It is marked as corrupt");
  return {
    path: real,
    format: header.format,
    sound: problems.length === 0,
    checked: code === NOTHING_TO_CHECK ? "headers" : "contents",
    corruptions,
    leaks,
    problems,
  };
}

function readAnswer(text: string): Record<string, unknown> {
  try {
    const answer = parseJson(text);
    return isPlainObject(answer) ? answer : {};
  } catch {
    // qemu-img says the rest in words, which are told as they are.
    return {};
  }
}
