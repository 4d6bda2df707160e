import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { DiskMoment } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Writes a VM as a folder that `vm_import` takes, here or on another host. The VM stays as it is. */
export default defineTool({
  name: "vm_export",
  family: "vm",
  class: "M",
  summary: "Write a VM into a new folder; memory and checkpoints stay behind",
  input: { vm: VmRef, folder: Path },
  positional: ["vm", "folder"],
  output: z.object({
    vm: z.string(),
    folder: z.string(),
    files: z.array(z.string()),
    disks: z.optional(DiskMoment),
  }),
  uses: ["driver", "vm"],
  feature: "copies",
  timed: true,
  writes: "folder",
  async handle({ folder }, context) {
    const { driver, vm } = context;
    const { files, disks } = await abilityOf(driver, "copies").export(vm.id, folder, context);
    return { vm: vm.id, folder, files, ...(disks === undefined ? {} : { disks }) };
  },
});
