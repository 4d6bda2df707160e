import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { GuestInfo } from "../../contract/guest_info.ts";
import { VmRef } from "../../contract/names.ts";
import { describeGuest } from "../../flows/guest/inspect_guest.ts";
import { defineTool } from "../define_tool.ts";

/** Tells what a guest is: its system, clock, cards, disks and agent. */
export default defineTool({
  name: "guest_info",
  family: "guest",
  class: "R",
  summary: "Tell a guest's OS, boot time, clock, addresses, disks, agent",
  input: { vm: VmRef, ...GUEST_ACCESS },
  positional: ["vm"],
  unlisted: ACCESS_FIELDS,
  help: ACCESS_HELP,
  output: GuestInfo,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  handle: (access, context) =>
    describeGuest(context, {
      channel: access.channel,
      user: access.user,
      password_from_env: access.password_from_env,
    }, context.signal),
});
