import * as z from "zod/mini";
import { ImageName, VmName } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { makeSandbox } from "../../flows/machines/make_sandbox.ts";
import { readShare, readShares } from "../../flows/machines/shares.ts";
import { defineTool } from "../define_tool.ts";
import { SANDBOX_FIELDS, SANDBOX_HELP } from "../machine_fields.ts";

/** Makes a disposable VM whose guest answers; it lives until its lease ends or it is destroyed. */
export default defineTool({
  name: "sandbox_create",
  family: "sandbox",
  class: "M",
  summary: "Create a disposable VM whose guest answers; it ends with its lease",
  input: {
    image: ImageName,
    name: z.optional(VmName),
    ...SANDBOX_FIELDS,
  },
  positional: ["image"],
  unlisted: ["kernel", "initrd", "append", "modules", "share", "fresh_identity"],
  help: {
    ...SANDBOX_HELP,
    name: "Name of the sandbox; without it one is made from the image's",
  },
  output: Vm,
  uses: ["driver"],
  opens: ({ share }) => share.map((word) => readShare(word).host),
  feature: "sandboxes",
  timed: true,
  async handle({ share, ...wish }, context) {
    const { driver, config, host } = context;
    const shared = await readShares(driver, host, share);
    const scope = { ...context, clock: host.clock };
    return await makeSandbox(driver, config, { ...wish, ...shared, tiedToUs: false }, scope);
  },
});
