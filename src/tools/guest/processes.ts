import * as z from "zod/mini";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { GuestProcesses } from "../../contract/guest_processes.ts";
import { VmRef } from "../../contract/names.ts";
import { inspectGuest } from "../../flows/guest/inspect_guest.ts";
import { cutList, holds } from "../../guest/collect.ts";
import { defineTool } from "../define_tool.ts";

/** Lists what runs in a guest. */
export default defineTool({
  name: "guest_processes",
  family: "guest",
  class: "R",
  summary: "List a guest's processes",
  input: {
    vm: VmRef,
    match: z.optional(z.string().check(z.minLength(1))),
    owner: z.optional(z.string().check(z.minLength(1))),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(5000)), 200),
    ...GUEST_ACCESS,
  },
  positional: ["vm"],
  unlisted: ACCESS_FIELDS,
  help: {
    match: "Only those with this text in their name or command line",
    owner: "Only those of this user of the guest",
    limit: "How many at most",
    ...ACCESS_HELP,
  },
  output: GuestProcesses,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  handle: ({ match, owner, limit, channel, user, password_from_env }, context) =>
    inspectGuest(context, { channel, user, password_from_env }, async (way, inspection) => {
      const { items, truncated } = await inspection.processes(way, context.signal);
      const fitting = items.filter((process) =>
        (match === undefined || holds(process.name, match) || holds(process.command_line, match)) &&
        (owner === undefined || process.owner?.toLowerCase() === owner.toLowerCase())
      );
      const { items: processes, ...bounds } = cutList(fitting, limit, truncated);
      return { processes, ...bounds };
    }),
});
