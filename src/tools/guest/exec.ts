import * as z from "zod/mini";
import { Argv, EnvAssignment, readEnvironment } from "../../contract/arguments.ts";
import { ExecResult } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { openChannel } from "../../flows/open_channel.ts";
import { runInGuest } from "../../flows/run_in_guest.ts";
import { defineTool } from "../tool.ts";

/** Runs a program in a guest: the exact argument vector, streams apart, its own exit code. */
export default defineTool({
  name: "guest_exec",
  family: "guest",
  class: "X",
  summary: "Run a program in a guest; no shell reads its arguments",
  input: { vm: VmRef, argv: Argv, env: z._default(z.array(EnvAssignment), []), cwd: z.optional(Path) },
  positional: ["vm"],
  rest: "argv",
  output: ExecResult,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  runsProgram: true,
  plan: ({ argv }, { vm }) =>
    Promise.resolve({
      summary: `Run ${JSON.stringify(argv)} in the guest of "${vm.name}"`,
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null },
    }),
  handle({ argv, env, cwd }, context) {
    const channel = openChannel(context.driver, context.vm);
    const command = { argv, env: readEnvironment(env), ...(cwd === undefined ? {} : { cwd }) };
    return runInGuest(channel, command, { ...context, clock: context.host.clock });
  },
});
