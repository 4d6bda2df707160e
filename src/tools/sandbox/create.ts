import * as z from "zod/mini";
import { Cpus, MemoryMb, TtlS } from "../../contract/arguments.ts";
import { ImageName, VmName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Vm } from "../../contract/vm.ts";
import { makeSandbox } from "../../flows/make_sandbox.ts";
import { defineTool } from "../tool.ts";

/** Makes a disposable VM whose guest answers; it lives until its lease ends or it is destroyed. */
export default defineTool({
  name: "sandbox_create",
  family: "sandbox",
  class: "M",
  summary: "Create a disposable VM whose guest answers; it ends with its lease",
  input: {
    image: ImageName,
    name: z.optional(VmName),
    ttl_s: z._default(TtlS, 3600),
    memory_mb: z.optional(MemoryMb),
    cpus: z.optional(Cpus),
    kernel: z.optional(Path),
    initrd: z.optional(Path),
    append: z.optional(z.string()),
    modules: z.optional(Path),
    fresh_identity: z._default(z.boolean(), false),
  },
  positional: ["image"],
  unlisted: ["kernel", "initrd", "append", "modules", "fresh_identity"],
  output: Vm,
  uses: ["driver"],
  feature: "sandboxes",
  timed: true,
  handle: (wish, context) =>
    makeSandbox(context.driver, context.config, { ...wish, tiedToUs: false }, {
      ...context,
      clock: context.host.clock,
    }),
});
