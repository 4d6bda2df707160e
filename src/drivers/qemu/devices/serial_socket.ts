/** The unix socket of a VM's second serial port: QEMU takes one over that another program listens on, so it is looked at first. */

import { HvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";

/** What QEMU and hvlab call the second serial port. */
export const SECOND_SERIAL = "serial-1";

/** Throws `hv.conflict` when a program listens there, or something else is in its place. */
export async function refuseTakenSocket(host: Host, path: string): Promise<void> {
  const facts = await host.files.stat(path);
  if (facts === undefined) return;
  const isFile = facts.kind === "file" || facts.kind === "folder";
  using listener = isFile ? undefined : await host.sockets.connectUnix(path);
  if (!isFile && listener === undefined) return;
  const found = isFile ? facts.kind : "a program that listens";
  throw new HvError("hv.conflict", `Cannot make the serial port's socket "${path}": there is ${found}`, {
    hint: "Choose another path, or remove what is there",
    context: { path, wanted: "absent", found },
  });
}
