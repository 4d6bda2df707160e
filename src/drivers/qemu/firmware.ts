/** UEFI firmware: where the distribution keeps it, and a VM's own variables. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { runQemuImg } from "./checkpoints/files.ts";
import type { QemuContext } from "./context.ts";

/** A firmware program with the variables that a new machine begins with; both belong to the same build. */
interface Build {
  code: string;
  variables: string;
}

/** OVMF as Debian, Fedora and Arch lay it out; the first that is there counts. */
const BUILDS: readonly Build[] = [
  { code: "/usr/share/OVMF/OVMF_CODE_4M.fd", variables: "/usr/share/OVMF/OVMF_VARS_4M.fd" },
  { code: "/usr/share/edk2/ovmf/OVMF_CODE.fd", variables: "/usr/share/edk2/ovmf/OVMF_VARS.fd" },
  { code: "/usr/share/edk2/x64/OVMF_CODE.4m.fd", variables: "/usr/share/edk2/x64/OVMF_VARS.4m.fd" },
];

/** The firmware program of this host. Throws `hv.unavailable` when none is installed. */
export async function findFirmware({ host }: QemuContext): Promise<Build> {
  for (const build of BUILDS) {
    const [code, variables] = await Promise.all([
      host.files.stat(build.code, { follow: true }),
      host.files.stat(build.variables, { follow: true }),
    ]);
    if (code?.kind === "file" && variables?.kind === "file") return build;
  }
  throw new HvError("hv.unavailable", "Cannot find the UEFI firmware OVMF on this host", {
    hint: "Run: apt-get install ovmf",
    context: { looked_at: BUILDS.map(({ code }) => code) },
    retryable: false,
  });
}

/** Makes a VM's variables at `path`: in qcow2, since raw ones cannot be part of a checkpoint. */
export async function makeVariables(context: QemuContext, path: string, signal: AbortSignal): Promise<void> {
  const { variables } = await findFirmware(context);
  await runQemuImg(context, ["convert", "-f", "raw", "-O", "qcow2", variables, path], path, signal);
}

/** The firmware files of a VM whose own files lie in `home`. */
export async function uefiFiles(
  context: QemuContext,
  home: string,
  variablesFile: string,
): Promise<{ code: string; variables: string }> {
  return { code: (await findFirmware(context)).code, variables: joinPath(home, variablesFile) };
}
