/**
 * The raw facts of a Hyper-V host for a bug report: the sidecars that can run here, and what the host shows. No names,
 * no paths.
 */

import type { JsonObject } from "../../../base/json.ts";
import { toHvError } from "../../../base/errors.ts";
import type { HyperV } from "../client.ts";
import { CANDIDATES, openSidecar, type SidecarFacts } from "../sidecar/probe.ts";

/** One PowerShell of this host, tried by itself. */
export interface ShellTrial {
  program: string;
  /** `undefined` when it is not installed or does not pass. */
  facts?: SidecarFacts;
  failure?: { code: string; message: string; provider_id?: string };
}

/** Tries every PowerShell that could be the sidecar; the one that is it already need not start again. */
export async function tryShells(hyperv: HyperV, signal: AbortSignal): Promise<ShellTrial[]> {
  const { host } = hyperv;
  const current = await hyperv.program(signal).catch(() => undefined);
  const trials: ShellTrial[] = [];
  for (const program of host.os === "windows" ? CANDIDATES.windows : CANDIDATES.other) {
    if (program === current) trials.push({ program, facts: await hyperv.facts(signal) });
    else trials.push(await tryShell(hyperv, program, signal));
  }
  return trials;
}

async function tryShell({ host }: HyperV, program: string, signal: AbortSignal): Promise<ShellTrial> {
  if (await host.processes.find(program) === undefined) return { program };
  try {
    const { link, facts } = await openSidecar(host, [program], signal);
    await link.close();
    return { program, facts };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, context } = toHvError(error);
    const provider_id = context.provider_id;
    return {
      program,
      failure: { code, message, ...(typeof provider_id === "string" ? { provider_id } : {}) },
    };
  }
}

/** Everything that the open points of the documentation ask for. */
export async function reportHost(hyperv: HyperV, signal: AbortSignal): Promise<JsonObject> {
  const shells = (await tryShells(hyperv, signal)).map(({ program, facts, failure }) => ({
    program,
    installed: facts !== undefined || failure !== undefined,
    ...(facts === undefined ? {} : { facts: { ...facts } }),
    // What it said may hold names of this host.
    ...(failure === undefined ? {} : { failed: failure.code, provider_id: failure.provider_id ?? null }),
  }));
  const { processes } = hyperv.host;
  const programs = { cdb: await processes.find("cdb.exe") !== undefined };
  try {
    return { shells, programs, ...await hyperv.report(signal) };
  } catch (error) {
    signal.throwIfAborted();
    const { code, context } = toHvError(error);
    return { shells, programs, failed: code, provider_id: context.provider_id ?? null };
  }
}
