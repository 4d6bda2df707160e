import * as z from "zod/mini";
import { Disk } from "../../contract/disk.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkWrite } from "../policy.ts";
import { defineTool } from "../define_tool.ts";

/** Writes a differencing disk into its parent and removes it. */
export default defineTool({
  name: "disk_merge",
  family: "disk",
  class: "D",
  summary: "Merge a differencing disk into its parent and remove it",
  input: { path: Path, follow_parents: z._default(z.boolean(), false) },
  positional: ["path"],
  help: { follow_parents: "Merge into a parent that hvlab did not put there" },
  output: z.object({ removed: z.string(), disk: Disk }),
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "path",
  opens: ({ path }) => [path],
  async plan({ path, follow_parents }, { driver, signal }) {
    const disks = abilityOf(driver, "disks");
    const { parent, losses } = await disks.mergeLosses(path, follow_parents, signal);
    const { file_bytes, allocated_bytes } = await disks.info(path, signal);
    return {
      summary: `Merge "${path}" into "${parent}" and remove it`,
      losses,
      fingerprint: { path, parent, file_bytes, allocated_bytes },
    };
  },
  async handle({ path, follow_parents }, context) {
    const { driver, config, host, door, signal } = context;
    const disks = abilityOf(driver, "disks");
    const { parent } = await disks.mergeLosses(path, follow_parents, signal);
    await checkWrite(config, host, door, parent);
    return await disks.merge(path, follow_parents, context);
  },
});
