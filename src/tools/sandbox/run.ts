import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Argv, EnvAssignment, readEnvironment } from "../../contract/arguments.ts";
import { CrashPolicy, CrashSettings, type PanicCause } from "../../contract/crash_policy.ts";
import { ExecResult } from "../../contract/guest.ts";
import { ImageName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Vm } from "../../contract/vm.ts";
import { joinPath } from "../../base/paths.ts";
import { copyToGuest } from "../../flows/copies/copy_files.ts";
import { refuseTakenFolder } from "../../flows/crashes/crash_folder.ts";
import { isCrash, isSilence, letGuestTell, wakeHungGuest } from "../../flows/crashes/guest_panic.ts";
import { readCopyPair } from "../../flows/copies/copy_pair.ts";
import {
  leavesEvidence,
  makeSandbox,
  removeSandbox,
  type SandboxFate,
  tellBroken,
} from "../../flows/machines/make_sandbox.ts";
import { openChannel } from "../../flows/guest/open_channel.ts";
import { runInGuest } from "../../flows/guest/run_in_guest.ts";
import { readShare, readShares } from "../../flows/machines/shares.ts";
import { defineTool } from "../define_tool.ts";
import { CRASH_HELP, SANDBOX_FIELDS, SANDBOX_HELP } from "../machine_fields.ts";

/** How long a call outlives its time limit to keep what a guest that hangs can tell. */
const HANG_LIMIT_MS = 120_000;

/** Makes a sandbox, runs one program in it, and removes it again unless `keep` is given. */
export default defineTool({
  name: "sandbox_run",
  family: "sandbox",
  class: "X",
  summary: "Run a program in a new sandbox that is gone afterwards",
  input: {
    image: ImageName,
    argv: Argv,
    env: z._default(z.array(EnvAssignment), []),
    cwd: z.optional(Path),
    copy: z._default(z.array(z.string()).check(z.describe("HOST:GUEST")), []),
    keep: z._default(z.boolean(), false),
    bisect: z._default(z.boolean(), false),
    ...SANDBOX_FIELDS,
    on_crash: z._default(CrashPolicy, "stop"),
    panic_on: CrashSettings.shape.panic_on,
    output: z.optional(Path),
  },
  positional: ["image"],
  unlisted: ["initrd", "modules", "share", "fresh_identity", "on_crash", "panic_on", "output"],
  rest: "argv",
  help: {
    ...SANDBOX_HELP,
    argv: "What to run",
    env: "Variable of the program's environment, written NAME=VALUE",
    cwd: "Folder of the guest in which the program runs",
    copy: "Copy this file into the guest first, written HOST:GUEST",
    keep: "Leave the sandbox running afterwards, until its lease ends",
    on_crash: "When the guest's kernel crashes: only fail, keep its memory and console, or say why as well",
    panic_on: CRASH_HELP.panic_on,
    output: "Folder for what --on-crash keeps; crashes/<operation> of the state folder when left out",
    bisect: "Exit codes for git bisect run: 0 stays, 125 is hvlab's own failure, all others are 1",
  },
  output: z.extend(ExecResult, { sandbox: z.optional(Vm) }),
  uses: ["driver"],
  opens: ({ share, output }) => [
    ...share.map((word) => readShare(word).host),
    ...(output === undefined ? [] : [output]),
  ],
  feature: "sandboxes",
  timed: true,
  runsProgram: true,
  check({ on_crash, output }) {
    if (output === undefined || on_crash !== "stop") return;
    throw new HvError(
      "hv.usage",
      "--output is the folder for what --on-crash keeps, and stop keeps nothing",
      {
        hint: "Add --on-crash collect or --on-crash triage, or leave --output out",
        context: { field: "output", found: output, on_crash },
      },
    );
  },
  async handle(
    { argv, env, cwd, copy, share, keep, on_crash, panic_on = [], output, bisect: _, ...wish },
    context,
  ) {
    const { driver, config, host, signal, progress } = context;
    const copies = copy.map(readCopyPair);
    const shared = await readShares(driver, host, share);
    if (output !== undefined) await refuseTakenFolder(host, output);
    progress({ message: "starting a sandbox" });
    const scope = { ...context, clock: host.clock };
    const vm = await makeSandbox(
      driver,
      config,
      { ...wish, ...shared, tiedToUs: !keep, keepBroken: keep },
      scope,
    );
    let fate: SandboxFate | undefined;
    const end = async (): Promise<SandboxFate> => fate ??= await removeSandbox(driver, vm.id, context);
    try {
      const channel = openChannel(driver, vm, config.policy.channels);
      // Where the provider itself sees the heartbeat, it says nothing of a login yet.
      if (driver.heartbeat !== undefined) await channel.ping(signal);
      const causes: PanicCause[] = [...(on_crash === "stop" ? [] : ["oops" as const]), ...panic_on];
      const untold = await letGuestTell(channel, causes, signal);
      if (untold !== undefined) context.warn(untold);
      for (const pair of copies) await copyToGuest(host, channel, { ...pair, overwrite: true }, signal);
      progress({ message: "running" });
      const command = { argv, env: readEnvironment(env), ...(cwd === undefined ? {} : { cwd }) };
      const result = await runInGuest(channel, command, scope);
      if (!keep) return result;
      fate = "kept";
      return { ...result, sandbox: await driver.vms.get(vm.id, signal) };
    } catch (error) {
      fate = keep && leavesEvidence(error) ? "kept" : undefined;
      if (on_crash === "stop") throw tellBroken(error, vm.id, await end());
      // What is kept of a guest that hangs is kept when the time of the call is over.
      const limited = isSilence(error) ? { ...context, signal: AbortSignal.timeout(HANG_LIMIT_MS) } : context;
      const isDead = isCrash(error) || (isSilence(error) && await wakeHungGuest(limited, vm, limited.signal));
      if (!isDead) throw tellBroken(error, vm.id, await end());
      const { answerCrash } = await import("../../flows/crashes/crash_policy.ts");
      const spare = joinPath(context.state.crashes, context.op ?? vm.id);
      const folder = output ?? spare;
      const options = { host, driver, id: vm.id, policy: on_crash, folder, spare, finishes: !keep };
      const crash = await answerCrash(error, options, limited);
      if (crash.page !== null) await context.sinks?.stderr(new TextEncoder().encode(`${crash.page}\n\n`));
      throw crash.error;
    } finally {
      await end();
    }
  },
});
