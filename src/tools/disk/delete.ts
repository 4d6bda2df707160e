import * as z from "zod/mini";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Removes a virtual disk that nothing needs. */
export default defineTool({
  name: "disk_delete",
  family: "disk",
  class: "D",
  summary: "Delete a virtual disk that no VM and no other disk needs",
  input: { path: Path },
  positional: ["path"],
  output: z.object({ path: z.string(), removed: z.boolean() }),
  uses: ["driver"],
  feature: "disks",
  timed: true,
  writes: "path",
  opens: ({ path }) => [path],
  async plan({ path }, { driver, signal }) {
    const disks = abilityOf(driver, "disks");
    const losses = await disks.losses(path, signal);
    const { path: full, format, file_bytes, allocated_bytes } = await disks.info(path, signal);
    return {
      summary: `Delete the ${format} disk "${full}"`,
      losses,
      fingerprint: { path: full, file_bytes, allocated_bytes },
    };
  },
  handle: ({ path }, context) => abilityOf(context.driver, "disks").remove(path, context),
});
