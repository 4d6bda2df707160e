import * as z from "zod/mini";
import {
  ACCESS_FIELDS,
  ACCESS_HELP,
  CloudInitOutcome,
  GUEST_ACCESS,
  LoginSeen,
} from "../../contract/guest_access.ts";
import { KeptCrash } from "../../contract/crash_policy.ts";
import { VmRef } from "../../contract/names.ts";
import { ReadinessLevel, Vm } from "../../contract/vm.ts";
import { awaitKeptCrash } from "../../flows/crashes/await_kept_crash.ts";
import { type Ready, waitReady } from "../../flows/waiting/wait_ready.ts";
import { waitAtMost } from "../../flows/waiting/wait_at_most.ts";
import { defineTool } from "../define_tool.ts";

/** Waits until a VM has come as far as asked; over MCP it answers with what it saw after `wait_s`. */
export default defineTool({
  name: "vm_wait",
  family: "vm",
  class: "R",
  summary: "Wait until a VM reaches a readiness level",
  input: { vm: VmRef, until: z._default(ReadinessLevel, "heartbeat"), ...GUEST_ACCESS },
  positional: ["vm"],
  unlisted: ACCESS_FIELDS,
  help: ACCESS_HELP,
  output: z.object({
    reached: z.boolean(),
    vm: Vm,
    login: z.optional(LoginSeen),
    cloud_init: z.optional(CloudInitOutcome),
    crash: z.optional(KeptCrash),
  }),
  uses: ["driver", "vm"],
  feature: "vms",
  timed: true,
  waits: true,
  async handle({ until, channel, user, password_from_env }, context) {
    const { driver, vm, signal, host, options } = context;
    const wish = { channel, user, password_from_env };
    let ready: Ready | undefined;
    let crash: KeptCrash | undefined;
    const reached = await waitAtMost(host.clock, options.wait_s, signal, async (limited) => {
      ready = await waitReady({ ...context, signal: limited }, vm.id, until, wish);
      if (until === "crash") crash = await awaitKeptCrash({ ...context, signal: limited }, ready.vm);
    });
    const { login, cloud_init } = ready ?? {};
    return {
      reached,
      vm: await driver.vms.get(vm.id, signal),
      ...(login === undefined ? {} : { login }),
      ...(cloud_init === undefined ? {} : { cloud_init }),
      ...(crash === undefined ? {} : { crash }),
    };
  },
});
