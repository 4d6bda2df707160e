import { ExecResult } from "../../contract/guest.ts";
import { ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { VmRef } from "../../contract/names.ts";
import { attachToGuest } from "../../flows/guest/attach_to_guest.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a person the user's shell in a guest, on their own terminal. */
export default defineTool({
  name: "guest_shell",
  family: "guest",
  class: "X",
  summary: "Open a shell in a guest on this terminal",
  input: { vm: VmRef, ...GUEST_ACCESS },
  positional: ["vm"],
  help: ACCESS_HELP,
  output: ExecResult,
  uses: ["driver", "vm"],
  feature: "guest",
  runsProgram: true,
  terminalOnly: true,
  plan: (_, { vm }) =>
    Promise.resolve({
      summary: `Open a shell in the guest of "${vm.name}"`,
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null },
    }),
  handle: (access, context) =>
    attachToGuest(context, {
      channel: access.channel,
      user: access.user,
      password_from_env: access.password_from_env,
    }, undefined),
});
