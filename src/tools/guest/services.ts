import * as z from "zod/mini";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { GuestServices, ServiceState } from "../../contract/guest_services.ts";
import { VmRef } from "../../contract/names.ts";
import { inspectGuest } from "../../flows/guest/inspect_guest.ts";
import { cutList, holds } from "../../guest/collect.ts";
import { defineTool } from "../define_tool.ts";

/** Lists a guest's services: systemd's units, or those of Windows. */
export default defineTool({
  name: "guest_services",
  family: "guest",
  class: "R",
  summary: "List a guest's services",
  input: {
    vm: VmRef,
    failed: z._default(z.boolean(), false),
    service_state: z.optional(ServiceState),
    match: z.optional(z.string().check(z.minLength(1))),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(2000)), 300),
    ...GUEST_ACCESS,
  },
  positional: ["vm"],
  unlisted: ACCESS_FIELDS,
  help: {
    failed: "Only those that failed",
    service_state: "Only those in this state",
    match: "Only those with this text in their name or description",
    limit: "How many at most",
    ...ACCESS_HELP,
  },
  output: GuestServices,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  handle: ({ failed, service_state: state, match, limit, channel, user, password_from_env }, context) =>
    inspectGuest(context, { channel, user, password_from_env }, async (way, inspection) => {
      const { items, truncated } = await inspection.services(way, context.signal);
      const fitting = items.filter((service) =>
        (!failed || service.state === "failed") && (state === undefined || service.state === state) &&
        (match === undefined || holds(service.name, match) || holds(service.description, match))
      );
      const { items: services, ...bounds } = cutList(fitting, limit, truncated);
      return { services, ...bounds };
    }),
});
