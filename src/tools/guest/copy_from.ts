import * as z from "zod/mini";
import { CopyResult } from "../../contract/guest.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { copyOutOfGuest } from "../../flows/copies/copy_with_guest.ts";
import { defineTool } from "../define_tool.ts";

/** Copies a file or a folder out of a guest to this host and checks what arrived. */
export default defineTool({
  name: "guest_copy_from",
  family: "guest",
  class: "M",
  summary: "Copy a file or folder from a guest to the host",
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
  writes: "destination",
  handle: ({ source, destination, overwrite, ...access }, context) =>
    copyOutOfGuest(context, access, { source, destination, overwrite }),
});
