import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { RegistryKey } from "../../contract/guest_registry.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { inspectGuest } from "../../flows/guest/inspect_guest.ts";
import { fullPath, readRegistry } from "../../guest/windows/registry.ts";
import { defineTool } from "../define_tool.ts";

/** Reads one key of a Windows guest's registry. */
export default defineTool({
  name: "guest_registry",
  family: "guest",
  class: "R",
  summary: "Read a registry key of a Windows guest",
  input: {
    vm: VmRef,
    path: Path,
    name: z.optional(z.string().check(z.minLength(1))),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(2000)), 200),
    ...GUEST_ACCESS,
  },
  positional: ["vm", "path"],
  unlisted: ACCESS_FIELDS,
  help: {
    path: "As HKLM\\SOFTWARE\\...",
    name: "Only the value of this name",
    limit: "How many keys and values at most",
    ...ACCESS_HELP,
  },
  output: RegistryKey,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  check: ({ path }) => void fullPath(path),
  handle: ({ path, name, limit, channel, user, password_from_env }, context) =>
    inspectGuest(context, { channel, user, password_from_env }, async (way) => {
      if (way.family === "windows") return await readRegistry(way, { path, name, limit }, context.signal);
      throw new HvError("hv.unsupported", `The guest of "${context.vm.name}" has no registry`, {
        hint: "Only Windows has one",
        context: { vm: context.vm.id, family: way.family },
      });
    }),
});
