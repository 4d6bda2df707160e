/** A VM's TPM 2.0: a program of its own, swtpm, whose state lies in the VM's folder. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { QemuContext } from "./context.ts";
import type { Helper } from "./helpers.ts";
import type { VmRecord } from "./records.ts";
import type { RuntimeFolder } from "./runtime_folder.ts";

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

/** Refuses to hand a VM on whose TPM cannot go along. */
export function refuseTpm({ id, name, tpm }: VmRecord, deed: string): void {
  if (tpm !== true) return;
  throw new HvError(
    "hv.unsupported",
    `Cannot ${deed} "${name}": it has a TPM, whose secrets are bound to this VM`,
    { hint: "Clone it, or make a VM without --tpm", context: { vm: id, device: "tpm" } },
  );
}

/** A TPM that works may write its state at any moment. */
export function refuseBusyTpm({ id, name }: VmRecord, { state: found }: { state: string }): void {
  if (found === "off") return;
  throw new HvError("hv.conflict", `Cannot clone "${name}" with its TPM: wanted "off", found "${found}"`, {
    hint: `Stop it first: hvlab vm stop ${id}`,
    context: { vm: id, wanted: "off", found },
  });
}

/** Takes a VM's TPM to a folder that another VM is being made in. The VM must be at rest. */
export async function copyTpm(
  { host, state }: QemuContext,
  { id, tpm }: VmRecord,
  folder: string,
): Promise<void> {
  if (tpm !== true) return;
  const source = joinPath(state.vm(id), TPM_FOLDER);
  const target = joinPath(folder, TPM_FOLDER);
  await host.files.makeFolder(target, { mode: 0o700 });
  for (const { name, kind } of await host.files.list(source)) {
    // Its lock is the living program's, not part of its state.
    if (kind === "file" && !name.startsWith(".")) {
      await host.files.copy(joinPath(source, name), joinPath(target, name));
    }
  }
}
