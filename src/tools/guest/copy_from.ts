import * as z from "zod/mini";
import { CopyResult } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { copyFromGuest } from "../../flows/copy_files.ts";
import { openChannel } from "../../flows/open_channel.ts";
import { defineTool } from "../tool.ts";

/** Copies one file out of a guest to this host and checks what arrived. */
export default defineTool({
  name: "guest_copy_from",
  family: "guest",
  class: "M",
  summary: "Copy a file from a guest to the host",
  input: { vm: VmRef, source: Path, destination: Path, overwrite: z._default(z.boolean(), false) },
  positional: ["vm", "source", "destination"],
  output: CopyResult,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  writes: "destination",
  handle: (pair, { driver, vm, host, signal }) => copyFromGuest(host, openChannel(driver, vm), pair, signal),
});
