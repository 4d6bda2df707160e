import * as z from "zod/mini";
import { CopyResult } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { copyToGuest } from "../../flows/copy_files.ts";
import { openChannel } from "../../flows/open_channel.ts";
import { defineTool } from "../tool.ts";

/** Copies one file from this host into a guest and checks what arrived. */
export default defineTool({
  name: "guest_copy_to",
  family: "guest",
  class: "X",
  summary: "Copy a file from the host into a guest",
  input: { vm: VmRef, source: Path, destination: Path, overwrite: z._default(z.boolean(), false) },
  positional: ["vm", "source", "destination"],
  output: CopyResult,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  plan: ({ source, destination }, { vm }) =>
    Promise.resolve({
      summary: `Copy "${source}" to "${destination}" in the guest of "${vm.name}"`,
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null },
    }),
  handle: (pair, { driver, vm, host, signal }) => copyToGuest(host, openChannel(driver, vm), pair, signal),
});
