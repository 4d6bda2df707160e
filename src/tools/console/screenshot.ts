import * as z from "zod/mini";
import { encodePng } from "../../base/png.ts";
import { Screenshot } from "../../contract/console.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { writeNewFile } from "../../flows/write_new_file.ts";
import { defineTool } from "../define_tool.ts";

/** Shows a VM's screen: as a file, over MCP as an image of the answer. */
export default defineTool({
  name: "console_screenshot",
  family: "console",
  class: "R",
  summary: "Take a picture of a VM's screen",
  input: { vm: VmRef, output: z.optional(Path), overwrite: z._default(z.boolean(), false) },
  positional: ["vm"],
  help: { output: "A new PNG file; without it the picture is in the answer", overwrite: "Replaces the file" },
  output: Screenshot,
  uses: ["driver", "vm"],
  feature: "console",
  writes: "output",
  async handle({ output, overwrite }, { driver, vm, signal, host }) {
    const picture = await abilityOf(driver, "console").screen(vm.id, signal);
    const png = await encodePng(picture);
    const facts = { vm: vm.id, width: picture.width, height: picture.height, size_bytes: png.length };
    if (output === undefined) return { ...facts, png_base64: png.toBase64() };
    await writeNewFile(host, output, png, overwrite);
    return { ...facts, output };
  },
  render: ({ width, height, output }) =>
    `${width}x${height} pixels${
      output === undefined ? "; --output FILE writes them to a file" : ` in ${output}`
    }`,
});
