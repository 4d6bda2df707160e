import * as z from "zod/mini";
import { DiskAttachment } from "../../contract/disk.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { describeAttachment } from "../../flows/disks/disk_attachment.ts";
import { defineTool } from "../define_tool.ts";

/** Plugs a disk into a VM, now when it runs, and for its later starts. */
export default defineTool({
  name: "disk_attach",
  family: "disk",
  class: "M",
  summary: "Plug a virtual disk into a VM, running or off",
  input: {
    vm: VmRef,
    path: Path,
    read_only: z._default(z.boolean(), false),
    follow_parents: z._default(z.boolean(), false),
  },
  positional: ["vm", "path"],
  help: { follow_parents: "Use parents that hvlab did not put there" },
  output: DiskAttachment,
  uses: ["driver", "vm"],
  feature: "disks",
  timed: true,
  writes: "path",
  opens: ({ path }) => [path],
  async handle({ path, ...wish }, context) {
    const { driver, vm, signal } = context;
    const real = await abilityOf(driver, "disks").attach(vm.id, path, wish, context);
    return await describeAttachment(driver, vm.id, real, signal);
  },
});
