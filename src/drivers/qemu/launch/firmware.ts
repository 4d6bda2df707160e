/** UEFI firmware: where the distribution keeps it, and a VM's own variables. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import type { Firmware } from "../../../contract/vm.ts";
import type { UefiFiles } from "./machine_plan.ts";
import { runQemuImg } from "../checkpoints/files.ts";
import type { QemuContext } from "../context.ts";
import { VARIABLES_FILE } from "../overlay.ts";

/** A firmware program with the variables that a new machine begins with; both belong to the same build. */
type Build = Pick<UefiFiles, "code" | "variables">;

/** The kinds of firmware that are no BIOS. */
export type UefiKind = Exclude<Firmware, "bios">;

/** OVMF as Debian, Fedora and Arch lay it out; the first that is there counts. Only Debian's has been tried. */
const BUILDS: Readonly<Record<UefiKind, readonly Build[]>> = {
  uefi: [
    { code: "/usr/share/OVMF/OVMF_CODE_4M.fd", variables: "/usr/share/OVMF/OVMF_VARS_4M.fd" },
    { code: "/usr/share/edk2/ovmf/OVMF_CODE.fd", variables: "/usr/share/edk2/ovmf/OVMF_VARS.fd" },
    { code: "/usr/share/edk2/x64/OVMF_CODE.4m.fd", variables: "/usr/share/edk2/x64/OVMF_VARS.4m.fd" },
  ],
  // The variables hold Microsoft's keys already, so that Secure Boot is on from the first boot.
  uefi_secure: [
    { code: "/usr/share/OVMF/OVMF_CODE_4M.ms.fd", variables: "/usr/share/OVMF/OVMF_VARS_4M.ms.fd" },
    {
      code: "/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd",
      variables: "/usr/share/edk2/ovmf/OVMF_VARS.secboot.fd",
    },
  ],
};

/** The firmware program of this host. Throws `hv.unavailable` when none is installed. */
export async function findFirmware({ host }: QemuContext, kind: UefiKind): Promise<Build> {
  for (const build of BUILDS[kind]) {
    const [code, variables] = await waitForAll([
      host.files.stat(build.code, { follow: true }),
      host.files.stat(build.variables, { follow: true }),
    ]);
    if (code?.kind === "file" && variables?.kind === "file") return build;
  }
  const what = kind === "uefi" ? "UEFI firmware" : "UEFI firmware for Secure Boot";
  throw new HvError("hv.unavailable", `Cannot find the ${what} (OVMF) on this host`, {
    hint: "Run: apt-get install ovmf",
    context: { looked_at: BUILDS[kind].map(({ code }) => code) },
    retryable: false,
  });
}

/** Makes a VM's variables at `path`: in qcow2, since raw ones cannot be part of a checkpoint. */
export async function makeVariables(
  context: QemuContext,
  kind: UefiKind,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { variables } = await findFirmware(context, kind);
  await runQemuImg(context, ["convert", "-f", "raw", "-O", "qcow2", variables, path], path, signal);
}

/** The firmware files of a VM whose own files lie in `home`. */
export async function uefiFiles(context: QemuContext, kind: UefiKind, home: string): Promise<UefiFiles> {
  const { code } = await findFirmware(context, kind);
  return { code, variables: joinPath(home, VARIABLES_FILE), secure: kind === "uefi_secure" };
}
