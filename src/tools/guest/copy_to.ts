import * as z from "zod/mini";
import { CopyResult } from "../../contract/guest.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { copyIntoGuest } from "../../flows/copies/copy_with_guest.ts";
import { defineTool } from "../define_tool.ts";

/** Copies a file or a folder from this host into a guest and checks what arrived. */
export default defineTool({
  name: "guest_copy_to",
  family: "guest",
  class: "X",
  summary: "Copy a file or folder from the host into a guest",
  input: {
    vm: VmRef,
    source: Path,
    destination: Path,
    overwrite: z._default(z.boolean(), false),
    ...GUEST_ACCESS,
  },
  positional: ["vm", "source", "destination"],
  unlisted: ACCESS_FIELDS,
  help: { overwrite: "Replace a file, or copy into a folder that is there", ...ACCESS_HELP },
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
  handle: ({ source, destination, overwrite, ...access }, context) =>
    copyIntoGuest(context, access, { source, destination, overwrite }),
});
