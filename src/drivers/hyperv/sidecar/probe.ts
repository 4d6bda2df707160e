/** Choosing the PowerShell: each candidate is started and must show that the cmdlets answer in it. */

import * as z from "zod/mini";
import { HvError, toHvError } from "../../../base/errors.ts";
import type { Host } from "../../../host/host.ts";
import { failureOf } from "../failures.ts";
import { SidecarLink } from "./link.ts";
import { passwordVariable, userInEnvironment } from "../../../guest/login.ts";
import { findSimulatedModules, simulatedWorld, SIMULATION_VARIABLE } from "./simulation.ts";

/** What a sidecar says of itself once it has passed its probe. */
export const SidecarFacts = z.object({
  edition: z.string(),
  version: z.string(),
  module_version: z.string(),
  simulated: z.boolean(),
  /** How long loading the module took. */
  load_ms: z.int(),
  /** What had to be put right: nothing, missing variables, or a server's name given with each call. */
  cure: z.enum(["none", "environment", "computer_name"]),
  /** Variables that were missing and were set. */
  restored: z.array(z.string()),
  language_mode: z.string(),
});
export type SidecarFacts = z.infer<typeof SidecarFacts>;

/** A sidecar that has passed, and what it says of itself. */
export interface ReadySidecar {
  link: SidecarLink;
  facts: SidecarFacts;
}

/**
 * Programs in the order in which they are tried. Windows PowerShell is on every Windows and loads the module natively.
 */
export const CANDIDATES = { windows: ["powershell.exe", "pwsh"], other: ["pwsh"] } as const;

/** Loading a module takes up to some seconds on a cold machine; a minute and more was never seen. */
const LOAD_LIMIT_MS = 120_000;

/** Starts the first of the programs that passes. Throws `hv.unavailable` with what was wrong with each. */
export async function openSidecar(
  host: Host,
  programs: readonly string[],
  signal: AbortSignal,
): Promise<ReadySidecar> {
  const world = simulatedWorld(host);
  if (host.os !== "windows" && world === undefined) {
    throw new HvError("hv.unsupported", "Hyper-V is a part of Windows, and this host runs something else", {
      hint: "Use --driver qemu here",
      context: { os: host.os },
    });
  }
  const modules = world === undefined ? undefined : await findSimulatedModules(host);
  const env = {
    POWERSHELL_TELEMETRY_OPTOUT: "1",
    POWERSHELL_UPDATECHECK: "Off",
    ...guestPassword(host),
    ...(world === undefined ? {} : { [SIMULATION_VARIABLE]: world, PSExecutionPolicyPreference: "Bypass" }),
  };
  const reasons: Record<string, string> = {};
  let first: HvError | undefined;
  for (const program of programs) {
    if (await host.processes.find(program) === undefined) {
      reasons[program] = "not found on PATH";
      continue;
    }
    try {
      return await tryProgram(host, { program, env, modules }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = toHvError(error);
      reasons[program] = failure.message;
      first ??= failure;
    }
  }
  if (first !== undefined && Object.keys(reasons).length === 1) throw first;
  throw new HvError("hv.unavailable", "No PowerShell here can work with Hyper-V", {
    hint: first?.hint ??
      "Install PowerShell, and turn the Windows feature Hyper-V on with its PowerShell module",
    context: { tried: reasons },
    retryable: false,
  });
}

/** The guest's password goes to the sidecar as it came to us, in a variable; those that we may not read it inherits. */
function guestPassword(host: Host): Record<string, string> {
  if (userInEnvironment(host) === undefined) return {};
  const name = passwordVariable(host);
  const value = name.startsWith("HVLAB_") ? host.environment.get(name) : undefined;
  return value === undefined ? {} : { [name]: value };
}

async function tryProgram(
  host: Host,
  options: { program: string; env: Record<string, string>; modules: string | undefined },
  signal: AbortSignal,
): Promise<ReadySidecar> {
  const link = await SidecarLink.open(host, options, signal);
  try {
    const request = link.send("probe", {}, () => {});
    const timer = new AbortController();
    const late = host.clock.sleep(LOAD_LIMIT_MS, AbortSignal.any([signal, timer.signal])).then(
      () => undefined,
      () => undefined,
    );
    const outcome = await Promise.race([request.outcome, late]);
    timer.abort();
    await late;
    signal.throwIfAborted();
    switch (outcome?.kind) {
      case "result":
        return { link, facts: SidecarFacts.parse(outcome.value) };
      case "error":
        throw failureOf("probe", outcome.phase, outcome.error);
      case "lost":
        throw outcome.cause;
      default:
        throw new HvError("hv.unavailable", `"${options.program}" did not load the Hyper-V module in time`, {
          hint: "Run `hvlab doctor`",
          context: { program: options.program, limit_ms: LOAD_LIMIT_MS },
        });
    }
  } catch (error) {
    await link.kill();
    throw error;
  }
}
