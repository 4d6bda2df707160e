import { DiskAttachment } from "../../contract/disk.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { describeAttachment } from "../../flows/disks/disk_attachment.ts";
import { defineTool } from "../define_tool.ts";

/** Takes a disk out of a VM. Its file stays. */
export default defineTool({
  name: "disk_detach",
  family: "disk",
  class: "M",
  summary: "Take a virtual disk out of a VM; the file stays",
  input: { vm: VmRef, path: Path },
  positional: ["vm", "path"],
  output: DiskAttachment,
  uses: ["driver", "vm"],
  feature: "disks",
  timed: true,
  async handle({ path }, context) {
    const { driver, vm, signal } = context;
    const real = await abilityOf(driver, "disks").detach(vm.id, path, context);
    return await describeAttachment(driver, vm.id, real, signal);
  },
});
