/** A VM's TPM 2.0: a program of its own, swtpm, whose state lies in the VM's folder. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import type { Helper } from "./helpers.ts";
import type { VmRecord } from "../records.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";

/** The folder inside a VM's own in which its TPM keeps what it must not forget. */
export const TPM_FOLDER = "tpm";
const PROGRAM = "swtpm";
const LOG = "tpm.log";

/** Where swtpm is. Throws `hv.unavailable` when it is not installed. */
export async function findTpmProgram({ host }: QemuContext): Promise<string> {
  const path = await host.processes.find("swtpm");
  if (path !== undefined) return path;
  throw new HvError("hv.unavailable", "Cannot find the program that is a VM's TPM (swtpm) on PATH", {
    hint: "Run: apt-get install swtpm",
    context: { program: PROGRAM },
    retryable: false,
  });
}

/** The program that a VM's TPM is. Its folder is named by where it starts, since swtpm has no way to write a comma. */
export function tpmHelper({ state }: QemuContext, { id }: VmRecord, runtime: RuntimeFolder): Helper {
  const home = state.vm(id);
  return {
    purpose: "The VM's TPM (swtpm)",
    program: PROGRAM,
    args: [
      ...["socket", "--tpm2", "--tpmstate", "dir=."],
      ...["--ctrl", `type=unixio,path=${runtime.tpm}`, "--terminate"],
    ],
    socket: runtime.tpm,
    log: joinPath(home, LOG),
    cwd: joinPath(home, TPM_FOLDER),
  };
}

/** Refuses to export a checkpoint of a VM with a TPM: what the TPM held at that time is part of no file. */
export function refuseTpm({ id, name, tpm }: VmRecord): void {
  if (tpm !== true) return;
  throw new HvError(
    "hv.unsupported",
    `Cannot export a checkpoint of "${name}": it has a TPM, whose state of that time is not kept beside the memory`,
    {
      hint: `Go back to the checkpoint, stop the VM, and export that: hvlab vm export ${id} FOLDER`,
      context: { vm: id, device: "tpm" },
    },
  );
}

/** A TPM that works may write its state at any moment. */
export function refuseBusyTpm(
  { id, name }: VmRecord,
  { state: found }: { state: string },
  deed: "clone" | "export",
): void {
  if (found === "off") return;
  throw new HvError("hv.conflict", `Cannot ${deed} "${name}" with its TPM: wanted "off", found "${found}"`, {
    hint: `Stop it first: hvlab vm stop ${id}`,
    context: { vm: id, wanted: "off", found },
  });
}

/** Takes a VM's TPM to a folder that another VM is being made in. The VM must be at rest. */
export async function copyTpm(context: QemuContext, record: VmRecord, folder: string): Promise<void> {
  if (record.tpm !== true) return;
  const target = joinPath(folder, TPM_FOLDER);
  await context.host.files.makeFolder(target, { mode: 0o700 });
  await copyTpmFiles(context, record.id, target);
}

/** Copies what a VM's TPM must not forget into a folder, and answers the names of the files. The VM must be at rest. */
export async function copyTpmFiles(
  { host, state }: QemuContext,
  id: string,
  target: string,
): Promise<string[]> {
  const source = joinPath(state.vm(id), TPM_FOLDER);
  // Its lock is the living program's, not part of its state.
  const entries = await host.files.list(source);
  const names = entries.filter(({ name, kind }) => kind === "file" && !name.startsWith("."))
    .map(({ name }) => name);
  for (const name of names) await host.files.copy(joinPath(source, name), joinPath(target, name));
  return names;
}
